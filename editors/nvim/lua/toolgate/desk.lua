--- One workspace at work: its sidecar, session, panel and questions, wired together.
---
--- For: each folder has one desk; commands go to the desk of the present buffer.
--- Must never: hold what one of its parts can hold, or start anything when it is loaded.

local asks = require("toolgate.asks")
local batch = require("toolgate.batch")
local card = require("toolgate.card")
local client = require("toolgate.client")
local config = require("toolgate.config")
local panel = require("toolgate.panel")
local session = require("toolgate.session")

local M = {}

---@class toolgate.Desk
---@field root string
---@field client toolgate.Client
---@field session toolgate.Session
---@field panel toolgate.Panel
---@field asks toolgate.Asks
---@field private batch toolgate.Batch
local Desk = {}
Desk.__index = Desk

local desks = {} ---@type table<string, toolgate.Desk>
local last ---@type toolgate.Desk?

---@param text string
---@param level? integer
local function tell(text, level)
  vim.notify("toolgate: " .. text, level or vim.log.levels.WARN)
end

---@param name string
---@param data table
local function announce(name, data)
  vim.api.nvim_exec_autocmds("User", { pattern = name, modeline = false, data = data })
end

---@param problem string?
local function tell_problem(problem)
  if problem then
    tell(problem, vim.log.levels.ERROR)
  end
end

---@param root string
---@return toolgate.Desk
local function make(root)
  local self = setmetatable({ root = root }, Desk)
  self.batch = batch.new(function(message)
    self.session:receive(message.method, message.params)
  end, function()
    self.panel.transcript:flush()
    self.panel:refresh_bar()
  end)
  self.client = client.new(root, {
    ready = function()
      self.session:begin()
    end,
    down = function(text, final)
      self:down(text, final)
    end,
    message = function(method, params)
      self.batch:push({ method = method, params = params })
    end,
  })
  self.session = session.new(self.client, self:view())
  self.asks = asks.new(self.session, function()
    self.panel:refresh_bar()
  end)
  self.panel = panel.new(root, self:actions())
  return self
end

---@private
---@return toolgate.SessionView
function Desk:view()
  return {
    update = function(params)
      self:on_update(params)
    end,
    asked = function(opened)
      self.asks:add(opened)
    end,
    closed = function(closed)
      self.asks:close(closed)
    end,
    reset = function()
      self.asks:clear()
      self.panel.transcript:reset()
    end,
    problem = tell_problem,
    settled = function()
      self.panel:refresh_bar()
    end,
  }
end

---@private
---@return toolgate.PanelActions
function Desk:actions()
  return {
    send = function(text)
      self:prompt({ { type = "text", text = text } })
      return true
    end,
    stop = function()
      self.session:cancel()
    end,
    output = function(call)
      require("toolgate.output").open(self.session, call)
    end,
    answer = function(action)
      self.asks:act(action)
    end,
    status = function()
      return self:status()
    end,
  }
end

---@private
---@param text string
---@param final boolean
function Desk:down(text, final)
  self.asks:clear()
  self.panel.transcript:lost()
  self.panel.transcript:tell(final and "error" or "warning", text)
  self.session:interrupted(final and text or nil)
  tell(text, final and vim.log.levels.ERROR or vim.log.levels.WARN)
  self.panel:refresh_bar()
end

---@private
---@param params toolgate.SessionUpdate
function Desk:on_update(params)
  local update = params.update
  self.panel.transcript:apply(params)
  if update.kind == "call_settled" then
    announce("ToolgateCallSettled", { sessionId = params.sessionId, callId = update.callId, status = update.status })
  elseif update.kind == "turn_ended" then
    announce("ToolgateTurnEnd", { sessionId = params.sessionId, stopReason = update.stopReason })
  elseif update.kind == "review_changed" then
    for _, ask in ipairs(self.asks.list) do
      if ask.review and ask.opened.ask.callId == update.callId then
        ask.review:update(update.diff)
      end
    end
  end
end

--- Opens the panel. If the person wiped its buffer, it is made anew and filled again.
---@param focus boolean Go to the prompt.
function Desk:open(focus)
  if not self.panel:whole() then
    self.panel:close()
    self.panel = panel.new(self.root, self:actions())
    if self.session.id then
      self.session:switch(self.session.id, tell_problem)
    end
  end
  self.panel:open(focus)
end

--- Gives the model a prompt and shows the panel.
---@param content toolgate.PromptBlock[]
function Desk:prompt(content)
  self:open(false)
  self.session:prompt(content, tell_problem)
end

--- What goes on, in a few words.
---@return string
function Desk:status()
  local client_state = self.client.state
  if client_state == "failed" then
    return "cannot start: " .. (self.client.problem or "")
  elseif client_state ~= "ready" then
    return client_state == "new" and "not started" or client_state
  end
  local words = { self.session.mode or "" }
  local open = #self.asks.list
  local running = self.panel.transcript:running()
  if open > 0 then
    words[#words + 1] = ("needs you (%d)"):format(open)
  elseif #running > 0 then
    local now = math.floor(vim.uv.hrtime() / 1000000)
    words[#words + 1] = ("%s: %s"):format(running[1].tool, card.state(running[1], now))
  else
    words[#words + 1] = self.session.turn and "thinking" or "idle"
  end
  local usage = self.session.usage
  -- Servers that do not count say nothing by their zeros.
  if usage and usage.inputTokens + usage.outputTokens > 0 then
    words[#words + 1] = ("%d+%d tokens"):format(usage.inputTokens, usage.outputTokens)
  end
  return table.concat(words, " · ")
end

--- The folder that a buffer belongs to.
---@param buf integer
---@return string
local function root_of(buf)
  local path = vim.api.nvim_buf_get_name(buf)
  if path ~= "" and vim.bo[buf].buftype == "" then
    local root = vim.fs.root(buf, config.get().root_markers)
    if root then
      return root
    end
  end
  return vim.fn.getcwd()
end

local watching = false

--- Shows files that are opened later to the sidecars.
local function watch_buffers()
  if watching then
    return
  end
  watching = true
  local group = vim.api.nvim_create_augroup("toolgate.attach", { clear = true })
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost" }, {
    group = group,
    desc = "Toolgate: show the file to the sidecar",
    callback = function(event)
      for _, desk in pairs(desks) do
        desk.client:attach(event.buf)
      end
    end,
  })
end

--- The desk of the present buffer; made when there is none.
---@return toolgate.Desk
function M.current()
  local buf = vim.api.nvim_get_current_buf()
  for _, desk in pairs(desks) do
    if desk.panel.buf == buf or desk.panel.input == buf then
      last = desk
      return desk
    end
  end
  -- In a float, a help page or an output there is no file to tell: the last desk is meant.
  if vim.bo[buf].buftype ~= "" and last then
    return last
  end
  local root = root_of(buf)
  if not desks[root] then
    require("toolgate.highlight").define()
    desks[root] = make(root)
    watch_buffers()
  end
  last = desks[root]
  return last
end

--- The desk that was used last, if there is one; makes none.
---@return toolgate.Desk?
function M.last()
  return last
end

--- All desks, for the health check.
---@return table<string, toolgate.Desk>
function M.all()
  return desks
end

return M
