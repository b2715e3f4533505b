--- Edits and saves open documents for the sidecar: `toolgate/document/edit` and `save`.
---
--- For: the text changes in one tick, as one undo step, and only when the buffer is exactly the
--- text that the sidecar decided about.
--- Must never: guess. Another version, another hash or another old line refuses the whole edit.
--- A handler answers with a table always: nil would send no answer at all.

local M = {}

---@alias toolgate.Notify fun(method: string, params: table)

--- The text as the sidecar's mirror has it: LF endings, no BOM.
---@param buf integer
---@return string
function M.text(buf)
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
  return vim.bo[buf].eol and text .. "\n" or text
end

---@param buf integer
---@return string
local function hash(buf)
  return vim.fn.sha256(M.text(buf))
end

--- The version that was last told to language servers; 0 when none was told.
---@param buf integer
---@return integer
function M.version(buf)
  return vim.lsp.util.buf_versions[buf] or 0
end

--- The buffer of a URI, if one is loaded.
---@param uri string
---@return integer?
function M.buffer(uri)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) ~= "" and vim.uri_from_bufnr(buf) == uri then
      return buf
    end
  end
  -- The other side may write the same file's URI with other escapes.
  local ok, path = pcall(vim.uri_to_fname, uri)
  if not ok then
    return nil
  end
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) == path then
      return buf
    end
  end
  return nil
end

---@param buf integer
---@param edit toolgate.LineEdit
---@return string? problem
local function check_lines(buf, edit)
  local present = vim.api.nvim_buf_get_lines(buf, edit.startLine, edit.startLine + #edit.oldLines, false)
  if #present ~= #edit.oldLines then
    return ("the text has fewer lines than line %d"):format(edit.startLine + #edit.oldLines)
  end
  for index, line in ipairs(edit.oldLines) do
    if present[index] ~= line then
      return ("line %d is another than the edit expects"):format(edit.startLine + index)
    end
  end
  return nil
end

---@param lines string[]
---@return boolean
local function are_lines(lines)
  for _, line in ipairs(lines) do
    if type(line) ~= "string" or line:find("[\n%z]") then
      return false
    end
  end
  return true
end

--- Looks whether the edits can be made; changes nothing.
---@param buf integer
---@param params toolgate.DocumentEditParams
---@return string? problem
local function check(buf, params)
  if not vim.bo[buf].modifiable then
    return "the buffer cannot be changed ('modifiable' is off)"
  end
  local version = M.version(buf)
  if version ~= params.version then
    return ("the buffer is at version %d, the edit is for version %d"):format(version, params.version)
  end
  if hash(buf) ~= params.hash then
    return "the buffer's text is another than the edit is for"
  end
  local count, least = vim.api.nvim_buf_line_count(buf), 0
  for _, edit in ipairs(params.edits) do
    if edit.startLine < least or edit.startLine > count then
      return "the edits overlap, are out of order or reach beyond the text"
    end
    if not are_lines(edit.newLines) then
      return "a new line holds a character that no line can hold"
    end
    local problem = check_lines(buf, edit)
    if problem then
      return problem
    end
    least = edit.startLine + #edit.oldLines
  end
  return nil
end

--- Ends the running undo step, so that what the person types is not one step with the edit.
local function break_undo()
  -- Setting 'undolevels', even to its present value, starts a new step (`:help undo-break`).
  vim.cmd("let &l:undolevels = &l:undolevels")
end

--- Sets 'endofline' and tells it: a change of that option sends no `didChange` by itself.
---@param notify toolgate.Notify
---@param buf integer
---@param wanted boolean
local function set_final_newline(notify, buf, wanted)
  if vim.bo[buf].eol == wanted then
    return
  end
  vim.bo[buf].eol = wanted
  -- Otherwise saving would put the line ending back.
  vim.bo[buf].fixeol = wanted
  -- A change without a change: only to have a new version for the whole text that follows.
  local last = vim.api.nvim_buf_get_lines(buf, -2, -1, false)
  vim.api.nvim_buf_set_lines(buf, -2, -1, false, last)
  notify("textDocument/didChange", {
    textDocument = { uri = vim.uri_from_bufnr(buf), version = M.version(buf) },
    contentChanges = { { text = M.text(buf) } },
  })
end

---@param notify toolgate.Notify
---@param buf integer
---@param params toolgate.DocumentEditParams
local function apply(notify, buf, params)
  vim.api.nvim_buf_call(buf, function()
    break_undo()
    -- From the bottom up: the line numbers all speak of the text before the edit.
    for index = #params.edits, 1, -1 do
      local edit = params.edits[index]
      local first = edit.startLine
      vim.api.nvim_buf_set_lines(buf, first, first + #edit.oldLines, true, edit.newLines)
    end
    for _, edit in ipairs(params.edits) do
      if type(edit.finalNewline) == "boolean" then
        set_final_newline(notify, buf, edit.finalNewline)
      end
    end
    break_undo()
  end)
end

--- Answers `toolgate/document/edit`. Every `didChange` is on its way before the answer is,
--- because the client sends changes without delay and both use one pipe.
---@param notify toolgate.Notify
---@param params toolgate.DocumentEditParams
---@return toolgate.DocumentEditResult
function M.edit(notify, params)
  local buf = M.buffer(params.uri)
  if not buf then
    return { applied = false, version = 0, hash = "", reason = "the document is not open" }
  end
  local problem = check(buf, params)
  if not problem then
    local ok, fault = pcall(apply, notify, buf, params)
    if not ok then
      problem = "the editor refused the change: " .. tostring(fault)
    end
  end
  return { applied = problem == nil, version = M.version(buf), hash = hash(buf), reason = problem }
end

--- Answers `toolgate/document/save`.
---@param params toolgate.DocumentSaveParams
---@return toolgate.DocumentSaveResult
function M.save(params)
  local buf = M.buffer(params.uri)
  if not buf then
    return { saved = false, reason = "the document is not open" }
  end
  local fixeol = vim.bo[buf].fixeol
  local ok, fault = pcall(vim.api.nvim_buf_call, buf, function()
    -- What is saved is the text that the sidecar knows: no line ending is added at its end.
    vim.bo[buf].fixeol = fixeol and vim.bo[buf].eol
    -- Without `!`: a file that changed on disk meanwhile must not be overwritten unasked.
    vim.cmd("silent write")
  end)
  vim.bo[buf].fixeol = fixeol
  if not ok then
    return { saved = false, reason = tostring(fault) }
  end
  if vim.bo[buf].modified then
    return { saved = false, reason = "the buffer is still modified" }
  end
  return { saved = true }
end

return M
