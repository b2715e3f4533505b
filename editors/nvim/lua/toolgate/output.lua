--- The whole output of a call in a buffer of its own, read page by page.
---
--- For: outputs of any size: a page is asked for when the person comes near the end.
--- Must never: load the whole at once, or write to a file.

local payload = require("toolgate.payload")
local escape = require("toolgate.escape")

local M = {}

--- How near to the last line the next page is asked for.
local NEAR = 100

---@class toolgate.Output
---@field buf integer
---@field ref? string
---@field next? integer Where the next page begins.
---@field asking boolean
---@field session toolgate.Session

---@param buf integer
---@param first integer
---@param lines string[]
local function write(buf, first, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, first, -1, false, lines)
  vim.bo[buf].modifiable = false
end

---@param output toolgate.Output
---@param text string
local function append(output, text)
  local last = vim.api.nvim_buf_line_count(output.buf) - 1
  local start = vim.api.nvim_buf_get_lines(output.buf, last, last + 1, false)[1]
  -- A page may end within a line: the next one goes on where it ended.
  local lines = vim.split(escape.panel(text), "\n", { plain = true })
  lines[1] = start .. lines[1]
  write(output.buf, last, lines)
end

---@param output toolgate.Output
local function ask(output)
  if output.asking or not output.next or not output.ref then
    return
  end
  output.asking = true
  local params = { contentRef = output.ref, offset = output.next }
  output.session:request("toolgate/call/output", params, function(problem, page)
    output.asking = false
    if not vim.api.nvim_buf_is_valid(output.buf) then
      return
    end
    if problem then
      output.next = nil
      append(output, "\n(the rest cannot be read: " .. problem .. ")")
      return
    end
    append(output, page.text)
    -- A page that does not go on would be asked for for ever.
    output.next = page.next and page.next > params.offset and page.next or nil
    M.look(output)
  end)
end

--- Asks for the next page if a window is near the end of what there is.
---@param output toolgate.Output
function M.look(output)
  local last = vim.api.nvim_buf_line_count(output.buf)
  for _, win in ipairs(vim.fn.win_findbuf(output.buf)) do
    if vim.fn.line("w$", win) >= last - NEAR then
      ask(output)
      return
    end
  end
end

---@param call toolgate.Call
---@return integer buf
local function open_buffer(call)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.api.nvim_buf_set_name(buf, ("toolgate://output/%s#%d"):format((call.id:gsub("[^%w_-]", "_")), buf))
  vim.cmd("aboveleft split")
  vim.api.nvim_win_set_buf(0, buf)
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buf, desc = "Toolgate: close" })
  return buf
end

---@param output toolgate.Output
---@param content toolgate.Content
local function fill(output, content)
  if content.contentRef then
    output.ref, output.next = content.contentRef, 0
    write(output.buf, 0, { "" })
    ask(output)
    vim.api.nvim_create_autocmd({ "WinScrolled", "CursorMoved", "BufEnter" }, {
      buffer = output.buf,
      desc = "Toolgate: read on near the end",
      callback = function()
        M.look(output)
      end,
    })
    return
  end
  local lines = vim.tbl_map(function(line)
    return line.text
  end, payload.lines(content.payload))
  write(output.buf, 0, lines)
end

--- Opens the whole output of a call.
---@param session toolgate.Session
---@param call toolgate.Call
function M.open(session, call)
  local output = { buf = open_buffer(call), asking = false, session = session }
  write(output.buf, 0, { "(asking)" })
  session:request("toolgate/call/get", { callId = call.id }, function(problem, view)
    if not vim.api.nvim_buf_is_valid(output.buf) then
      return
    end
    if problem then
      write(output.buf, 0, vim.split(problem, "\n", { plain = true }))
    elseif view.content then
      fill(output, view.content)
    else
      write(output.buf, 0, { "(the call has no output yet)" })
    end
  end)
  return output
end

return M
