--- The link to one sidecar: starts it, checks it, starts it again when it dies.
---
--- For: one sidecar for each workspace folder, through Neovim's own LSP client.
--- Must never: hold what a session is, or start a sidecar before a person asked for one.

local binary = require("toolgate.binary")
local config = require("toolgate.config")
local document = require("toolgate.document")

local M = {}

--- The protocol that this plugin speaks.
M.PROTOCOL = 1

--- What the plugin draws itself; other payloads come as text.
M.RENDER = { "text", "markdown", "diff", "terminal", "file_list", "matches", "json", "image", "plan", "fallback" }

---@class toolgate.ClientHooks
---@field ready fun(hello: toolgate.ServerHello)
---@field down fun(text: string, final: boolean)
---@field message fun(method: string, params: table)

---@class toolgate.Client
---@field root string
---@field state "new"|"starting"|"ready"|"waiting"|"failed"
---@field problem? string
---@field from? string
---@field hello? toolgate.ServerHello
---@field private hooks toolgate.ClientHooks
---@field private lsp_id? integer
---@field private attempts integer
---@field private stopping boolean
---@field private since? integer When it was ready.
local Client = {}
Client.__index = Client

--- Calls a method of Neovim's client: before 0.11 they are functions without `self`.
---@param client vim.lsp.Client
---@param name "request"|"notify"|"stop"
---@return any
local function call(client, name, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return client[name](client, ...)
  end
  return client[name](...)
end

--- How long a sidecar must have lived for its death to count as the first again, in nanoseconds.
local SOUND = 30 * 1000 * 1000 * 1000

---@param root string
---@param hooks toolgate.ClientHooks
---@return toolgate.Client
function M.new(root, hooks)
  return setmetatable({ root = root, state = "new", hooks = hooks, attempts = 0, stopping = false }, Client)
end

---@return vim.lsp.Client?
function Client:lsp()
  return self.lsp_id and vim.lsp.get_client_by_id(self.lsp_id) or nil
end

---@private
---@return table<string, function>
function Client:handlers()
  local handlers = {}
  for _, method in ipairs({ "toolgate/session/update", "toolgate/ask/opened", "toolgate/ask/closed" }) do
    handlers[method] = function(_, params)
      self.hooks.message(method, params)
      return vim.NIL
    end
  end
  handlers["toolgate/document/edit"] = function(_, params)
    return document.edit(function(method, about)
      self:notify(method, about)
    end, params)
  end
  handlers["toolgate/document/save"] = function(_, params)
    return document.save(params)
  end
  return handlers
end

---@private
---@param cmd string[]|function
---@return vim.lsp.ClientConfig
function Client:lsp_config(cmd)
  local settings = config.get()
  return {
    name = "toolgate",
    cmd = cmd,
    cmd_env = settings.env,
    root_dir = self.root,
    workspace_folders = { { uri = vim.uri_from_fname(self.root), name = vim.fs.basename(self.root) } },
    flags = { debounce_text_changes = 0 },
    handlers = self:handlers(),
    init_options = {
      toolgate = {
        protocol = M.PROTOCOL,
        ui = { permission = true, review = true, edit = true, save = true, render = M.RENDER },
        settings = next(settings.settings) and settings.settings or nil,
      },
    },
    on_init = function(client, result)
      self:started(client, result)
    end,
    on_error = function(_, fault)
      vim.schedule(function()
        local client = self:lsp()
        if self.state == "starting" and client then
          self:refuse(
            client,
            "the sidecar refused to start, see :Toolgate log: " .. tostring(fault):gsub("^%S*%.lua:%d+: ", "")
          )
        end
      end)
    end,
    on_exit = function(code, signal)
      vim.schedule(function()
        self:ended(code, signal)
      end)
    end,
  }
end

--- Starts the sidecar unless it runs.
function Client:start()
  if self.state == "starting" or self.state == "ready" then
    return
  end
  self.stopping = false
  local found = binary.find(config.get())
  self.from = found.from
  if found.problem then
    self:fail(found.problem)
    return
  end
  self.state, self.problem = "starting", nil
  local options = self:lsp_config(found.cmd)
  local ok, id
  if vim.fn.has("nvim-0.11") == 1 then
    ok, id = pcall(vim.lsp.start, options, { attach = false })
  else
    ok, id = pcall(vim.lsp.start_client, options)
  end
  if not ok or not id then
    self:fail("the sidecar cannot be started: " .. (ok and "see :Toolgate log" or tostring(id)))
    return
  end
  self.lsp_id = id
end

---@private
---@param problem string
function Client:fail(problem)
  self.state, self.problem = "failed", problem
  self.hooks.down(problem, true)
end

---@private
---@param client vim.lsp.Client
---@param result lsp.InitializeResult
function Client:started(client, result)
  local hello = vim.tbl_get(result, "capabilities", "experimental", "toolgate")
  if type(hello) ~= "table" then
    self:refuse(client, "what was started is not Toolgate: it does not name its protocol")
  elseif hello.protocol ~= M.PROTOCOL then
    self:refuse(
      client,
      ("the sidecar speaks protocol %s, this plugin speaks %d; update the older one"):format(
        tostring(hello.protocol),
        M.PROTOCOL
      )
    )
  else
    self.lsp_id, self.state, self.hello = client.id, "ready", hello
    self.since = vim.uv.hrtime()
    self:attach_all()
    self.hooks.ready(hello)
  end
end

---@private
---@param client vim.lsp.Client
---@param problem string
function Client:refuse(client, problem)
  self.stopping = true
  call(client, "stop")
  self:fail(problem)
end

---@private
---@param code integer
---@param signal integer
function Client:ended(code, signal)
  local was = self.state
  self.lsp_id = nil
  if self.stopping or was == "failed" then
    return
  end
  local how = signal ~= 0 and ("by signal %d"):format(signal) or ("with exit code %d"):format(code)
  local settings = config.get().restart
  local sound = self.since and vim.uv.hrtime() - self.since >= SOUND
  self.attempts = sound and 1 or self.attempts + 1
  if self.attempts > settings.max_attempts then
    self:fail(("the sidecar ended %s, %d times in a row; see :Toolgate log"):format(how, self.attempts))
    return
  end
  self.state = "waiting"
  local delay = settings.first_delay_ms * 2 ^ (self.attempts - 1)
  self.hooks.down(("the sidecar ended %s; starting it again in %.1f s"):format(how, delay / 1000), false)
  vim.defer_fn(function()
    if self.state == "waiting" and not self.stopping then
      self:start()
    end
  end, delay)
end

---@param buf integer
---@return boolean
local function is_file(buf)
  return vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= ""
end

--- Shows a buffer to the sidecar, if it is a file's. Files outside the workspace too: the model
--- must read what the person sees, wherever it lies.
---@param buf integer
function Client:attach(buf)
  if self.state == "ready" and self.lsp_id and is_file(buf) then
    vim.lsp.buf_attach_client(buf, self.lsp_id)
  end
end

---@private
function Client:attach_all()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    self:attach(buf)
  end
end

--- Asks the sidecar. The answer comes once, in the main loop; without a sidecar it is an error.
---@param method string
---@param params table
---@param done fun(problem: string?, result: any)
function Client:request(method, params, done)
  local client = self:lsp()
  if not client or self.state ~= "ready" then
    done(self.problem or "the sidecar does not run", nil)
    return
  end
  local sent = call(client, "request", method, params, function(fault, result)
    done(fault and (fault.message or vim.inspect(fault)) or nil, result)
  end)
  if not sent then
    done("the sidecar does not take requests any more", nil)
  end
end

---@param method string
---@param params table
function Client:notify(method, params)
  local client = self:lsp()
  if client then
    call(client, "notify", method, params)
  end
end

--- Ends the sidecar and does not start it again.
function Client:stop()
  self.stopping = true
  local client = self:lsp()
  if client then
    call(client, "stop")
  end
  self.state = "new"
end

return M
