--- The harness of the plugin's specs: a scripted sidecar inside the editor, and looks at what a
--- person would see.
---
--- For: specs that run in real Neovim through the plugin's public face (`:Toolgate`, windows,
--- buffers, keys) and the wire (what the sidecar gets and sends).
--- Must never: sleep in order to wait; `wait` polls for a condition and fails with what it saw.

local M = {}

---@class toolgate.test.Sidecar
---@field log { method: string, params: any }[] What the plugin sent, in order.
---@field answers table<string, any|fun(params: any): any, any>
---@field starts integer
---@field seq integer
---@field epoch string
local Sidecar = {}
Sidecar.__index = Sidecar

M.SESSION = "s1"

--- An answer that never comes.
M.SILENT = {}

local function default_answers(self)
  return {
    initialize = function()
      return {
        capabilities = {
          positionEncoding = "utf-16",
          textDocumentSync = { openClose = true, change = 2, save = true },
          experimental = { toolgate = { protocol = 1, version = "0.0.0-spec", epoch = self.epoch } },
        },
      }
    end,
    shutdown = vim.NIL,
    ["toolgate/session/new"] = function()
      return { sessionId = M.SESSION, epoch = self.epoch, cwd = "/", mode = "default", model = "spec" }
    end,
    ["toolgate/session/load"] = function()
      return {
        session = { sessionId = M.SESSION, epoch = self.epoch, cwd = "/", mode = "default", model = "spec" },
        reset = true,
        updates = {},
        more = false,
        asks = {},
      }
    end,
    ["toolgate/session/prompt"] = { turnId = "t1" },
    ["toolgate/session/setMode"] = {},
    ["toolgate/ask/answer"] = function(params)
      return { askId = params.askId }
    end,
  }
end

--- A sidecar that lives inside the editor and answers from a table.
---@return toolgate.test.Sidecar
function M.sidecar()
  local self = setmetatable({ log = {}, starts = 0, seq = 0, epoch = "e1" }, Sidecar)
  self.answers = default_answers(self)
  return self
end

--- The `cmd` for the plugin's settings.
---@return function
function Sidecar:cmd()
  return function(dispatchers)
    self.starts, self.dispatchers, self.closing = self.starts + 1, dispatchers, false
    return {
      request = function(method, params, callback)
        self:record(method, params)
        local answer, fault = self.answers[method], nil
        if type(answer) == "function" then
          answer, fault = answer(params)
        elseif answer == nil then
          fault = { code = -32601, message = "unsupported: " .. method }
        end
        vim.schedule(function()
          if answer == M.SILENT then
            return
          end
          local ok, problem = pcall(callback, fault, answer)
          if not ok then
            dispatchers.on_error(vim.lsp.rpc.client_errors.SERVER_RESULT_CALLBACK_ERROR, problem)
          end
        end)
        return true, #self.log
      end,
      notify = function(method, params)
        self:record(method, params)
        return true
      end,
      is_closing = function()
        return self.closing
      end,
      terminate = function()
        self:die(0)
      end,
    }
  end
end

function Sidecar:record(method, params)
  self.log[#self.log + 1] = { method = method, params = vim.deepcopy(params) }
end

--- Ends as a process would.
function Sidecar:die(code)
  if not self.closing then
    self.closing = true
    self.dispatchers.on_exit(code, 0)
  end
end

--- Sends a notification.
function Sidecar:notify(method, params)
  self.dispatchers.notification(method, vim.deepcopy(params))
end

--- Sends a session update with the next number.
function Sidecar:update(update)
  self.seq = self.seq + 1
  self:notify("toolgate/session/update", {
    sessionId = M.SESSION,
    epoch = self.epoch,
    seq = self.seq,
    update = update,
  })
end

--- Asks the editor and returns its answer.
function Sidecar:request(method, params)
  return self.dispatchers.server_request(method, params)
end

--- The parameters of every message of a method that the plugin sent.
---@return any[]
function Sidecar:sent(method)
  local found = {}
  for _, message in ipairs(self.log) do
    if message.method == method then
      found[#found + 1] = message.params
    end
  end
  return found
end

--- Waits until a condition holds. What it returns is returned.
---@param about string
---@param condition fun(): any
---@return any
function M.wait(about, condition)
  local value
  local ok = vim.wait(10000, function()
    value = condition()
    return value
  end, 5)
  if not ok then
    error(("waited in vain for %s; messages:\n%s\nscreen:\n%s"):format(about, M.messages(), M.all_text()), 2)
  end
  return value
end

local notes = {} ---@type string[]

--- Everything that the plugin told by `vim.notify` in this case.
function M.messages()
  return table.concat(notes, "\n")
end

--- The text of a window's buffer.
function M.text(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
end

--- The buffer with this filetype.
---@return integer?
function M.buffer(filetype)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buf].filetype == filetype then
      return buf
    end
  end
  return nil
end

--- The panel's text.
function M.panel()
  local buf = M.buffer("toolgate")
  return buf and M.text(buf) or ""
end

--- The window of the open question.
function M.float()
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == "toolgate-ask" then
      return win
    end
  end
  return nil
end

--- The question's text, empty when none is shown.
function M.question()
  local win = M.float()
  return win and M.text(vim.api.nvim_win_get_buf(win)) or ""
end

--- What stands beneath the question.
function M.footer()
  local win = M.float()
  local footer = win and vim.api.nvim_win_get_config(win).footer
  return footer and footer[1][1] or ""
end

function M.all_text()
  local parts = {}
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    parts[#parts + 1] = M.text(vim.api.nvim_win_get_buf(win))
  end
  return table.concat(parts, "\n---\n")
end

--- What a person sees of a buffer: its lines, virtual lines as `|…`, labels as `⟨…⟩`.
function M.drawn(buf)
  local above, below, labels, signs = {}, {}, {}, {}
  local namespace = vim.api.nvim_create_namespace("toolgate.review")
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, namespace, 0, -1, { details = true })) do
    local row, details = mark[2], mark[4]
    local place = details.virt_lines_above and above or below
    for _, line in ipairs(details.virt_lines or {}) do
      place[row] = place[row] or {}
      table.insert(place[row], "|" .. line[1][1])
    end
    if details.virt_text_pos == "inline" then
      signs[row] = not details.invalid or nil
    elseif details.virt_text then
      labels[row] = details.virt_text[1][1]
    end
  end
  local out = {}
  for index, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    local row = index - 1
    vim.list_extend(out, above[row] or {})
    out[#out + 1] = (signs[row] and "-" or " ")
      .. line
      .. (labels[row] and (" ⟨" .. vim.trim(labels[row]) .. "⟩") or "")
    vim.list_extend(out, below[row] or {})
  end
  return table.concat(out, "\n")
end

--- Presses keys as a person does.
function M.press(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), "xt", false)
end

local folder ---@type string

--- The scratch folder of this case.
function M.folder()
  return folder
end

--- Writes a file of the scratch folder and opens it.
---@return integer buf
function M.open(name, text)
  local path = vim.fs.joinpath(folder, name)
  vim.fn.writefile(vim.split(text, "\n", { plain = true }), path, "b")
  vim.cmd.edit(vim.fn.fnameescape(path))
  return vim.api.nvim_get_current_buf()
end

--- Starts the plugin against a scripted sidecar and waits for its session.
---@param settings? table
---@return toolgate.test.Sidecar
function M.start(settings)
  local sidecar = M.sidecar()
  require("toolgate").setup(vim.tbl_extend("force", { cmd = sidecar:cmd() }, settings or {}))
  vim.cmd("Toolgate open")
  M.wait("the session", function()
    return #sidecar:sent("toolgate/session/new") > 0 and require("toolgate").statusline():find("idle")
  end)
  vim.cmd("wincmd t")
  return sidecar
end

--- Fails unless two values are equal; shows both.
function M.same(actual, expected, about)
  if not vim.deep_equal(actual, expected) then
    local function show(value)
      return type(value) == "string" and value or vim.inspect(value)
    end
    error(("%s\nexpected:\n%s\nactual:\n%s"):format(about or "not equal", show(expected), show(actual)), 2)
  end
end

--- Fails unless a text holds another.
function M.holds(text, part, about)
  if not text:find(part, 1, true) then
    error(("%s: expected to find\n%s\nin\n%s"):format(about or "text", part, text), 2)
  end
end

--- Prepares the editor for a case.
function M.before()
  notes = {}
  vim.notify = function(text)
    notes[#notes + 1] = text
  end
  folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  folder = vim.uv.fs_realpath(folder)
  vim.cmd.cd(vim.fn.fnameescape(folder))
end

--- Takes everything away that a case made.
function M.after()
  local desk = package.loaded["toolgate.desk"]
  for _, each in pairs(desk and desk.all() or {}) do
    each.client:stop()
  end
  vim.cmd("silent! tabonly! | silent! only!")
  vim.cmd("silent! %bwipeout!")
  for name in pairs(package.loaded) do
    if vim.startswith(name, "toolgate") then
      package.loaded[name] = nil
    end
  end
  for _, name in ipairs({ "toolgate.float", "toolgate.attach" }) do
    pcall(vim.api.nvim_del_augroup_by_name, name)
  end
  vim.fn.delete(folder, "rf")
end

return M
