--- One session as the sidecar tells it: its name, its place in the stream, its mode and turn.
---
--- For: nothing is shown twice or lost: updates are applied in the order of `seq`, a gap or a
--- new sidecar process is closed by `session/load`.
--- Must never: decide anything about a call; draw (that is `transcript.lua`).

local M = {}

---@class toolgate.SessionView What a session tells its owner.
---@field update fun(params: toolgate.SessionUpdate)
---@field asked fun(ask: toolgate.AskOpened)
---@field closed fun(closed: toolgate.AskClosed)
---@field reset fun()
---@field problem fun(text: string)
---@field settled fun() There is a session now, or it is known that there is none.

---@class toolgate.Session
---@field id? toolgate.SessionId
---@field mode? toolgate.Mode
---@field model? string
---@field turn? toolgate.TurnId
---@field usage? toolgate.Usage
---@field files string[] Files that calls changed, in order.
---@field private client toolgate.Client
---@field private view toolgate.SessionView
---@field private epoch? string
---@field private seq integer
---@field private loading boolean
---@field private held table[] Messages that wait for the loading to end.
---@field private gap? string The gap that the last load was to close.
---@field private waiting (fun(problem: string?))[] Those who want a session.
local Session = {}
Session.__index = Session

--- How many messages are held while a session loads. Beyond, the next load tells them.
local MAX_HELD = 10000

---@param client toolgate.Client
---@param view toolgate.SessionView
---@return toolgate.Session
function M.new(client, view)
  return setmetatable({
    client = client,
    view = view,
    seq = 0,
    files = {},
    loading = false,
    held = {},
    waiting = {},
  }, Session)
end

--- Calls back once there is a session, or with what is wrong.
---@param done fun(problem: string?)
function Session:ensure(done)
  if self.id and not self.loading and self.client.state == "ready" then
    done(nil)
    return
  end
  self.waiting[#self.waiting + 1] = done
  if self.client.state == "ready" then
    if not self.loading then
      self:begin()
    end
  else
    self.client:start()
  end
end

---@private
---@param problem string?
function Session:settle(problem)
  self.loading = false
  local waiting, held = self.waiting, self.held
  self.waiting, self.held = {}, {}
  for _, message in ipairs(held) do
    self:receive(message.method, message.params)
  end
  for _, done in ipairs(waiting) do
    done(problem)
  end
  self.view.settled()
end

--- The sidecar is gone. With a problem it will not come back by itself, and those who wait for a
--- session are told; without one they go on waiting.
---@param problem string?
function Session:interrupted(problem)
  self.turn, self.loading, self.held = nil, false, {}
  if problem then
    self:settle(problem)
  end
end

--- Makes a session, or loads the one there was: called when a sidecar is ready.
function Session:begin()
  if self.loading then
    return
  end
  self.loading = true
  if self.id then
    self:load_page(self.id)
    return
  end
  self.client:request("toolgate/session/new", { cwd = self.client.root }, function(problem, info)
    if problem then
      self:settle("no session: " .. problem)
      return
    end
    self:take_info(info)
    self:settle(nil)
  end)
end

---@private
---@param info toolgate.SessionInfo
function Session:take_info(info)
  if self.epoch ~= info.epoch then
    self.epoch, self.seq = info.epoch, 0
  end
  self.id, self.mode, self.model, self.turn = info.sessionId, info.mode, info.model, info.turnId
end

--- Shows another session.
---@param id toolgate.SessionId
---@param done fun(problem: string?)
function Session:switch(id, done)
  self.id, self.epoch, self.seq, self.turn = id, nil, 0, nil
  self.files, self.loading = {}, false
  self.view.reset()
  self.waiting[#self.waiting + 1] = done
  if self.client.state == "ready" then
    self:begin()
  else
    self.client:start()
  end
end

---@private
---@param id toolgate.SessionId
function Session:load_page(id)
  local since = self.epoch and { epoch = self.epoch, seq = self.seq } or nil
  self.client:request("toolgate/session/load", { sessionId = id, since = since }, function(problem, result)
    if self.id ~= id then
      return
    end
    if problem then
      self:settle("the session cannot be loaded: " .. problem)
      self.view.problem("the session cannot be loaded: " .. problem)
      return
    end
    if result.reset then
      self.files = {}
      self.view.reset()
      self.epoch, self.seq = nil, 0
    end
    for _, update in ipairs(result.updates) do
      self:apply(update)
    end
    if result.more and #result.updates > 0 then
      self:load_page(id)
      return
    end
    local seq = self.seq
    self:take_info(result.session)
    self.seq = seq
    for _, ask in ipairs(result.asks) do
      self.view.asked(ask)
    end
    self:settle(nil)
  end)
end

--- Takes one message of the sidecar.
---@param method string
---@param params table
function Session:receive(method, params)
  if self.loading or not self.id then
    if #self.held < MAX_HELD then
      self.held[#self.held + 1] = { method = method, params = params }
    end
    return
  end
  if params.sessionId ~= self.id then
    return
  end
  if method == "toolgate/session/update" then
    self:receive_update(params)
  elseif method == "toolgate/ask/opened" then
    self.view.asked(params)
  elseif method == "toolgate/ask/closed" then
    self.view.closed(params)
  end
end

---@private
---@param params toolgate.SessionUpdate
function Session:receive_update(params)
  if params.epoch == self.epoch and params.seq <= self.seq then
    return
  end
  local next_one = params.seq == self.seq + 1 or (self.seq == 0 and params.seq <= 1)
  if params.epoch == self.epoch and next_one then
    self:apply(params)
    return
  end
  local gap = ("%s %d %d"):format(params.epoch, params.seq, self.seq)
  if self.gap == gap then
    -- The load brought nothing: what is not told cannot be had, and asking for ever is worse.
    self.gap = nil
    if params.epoch == self.epoch then
      self:apply(params)
    end
    return
  end
  self.gap = gap
  -- It stays held and is looked at again behind what the load tells.
  self.held[#self.held + 1] = { method = "toolgate/session/update", params = params }
  self.loading = true
  self:load_page(self.id)
end

local CHANGES = {
  turn_started = function(self, update)
    self.turn = update.turnId
  end,
  turn_ended = function(self)
    self.turn = nil
  end,
  mode = function(self, update)
    self.mode = update.mode
  end,
  model = function(self, update)
    self.model = update.model
  end,
  usage = function(self, update)
    self.usage = update
  end,
  files_changed = function(self, update)
    for _, file in ipairs(update.files) do
      if not vim.tbl_contains(self.files, file) then
        self.files[#self.files + 1] = file
      end
    end
  end,
}

---@private
---@param params toolgate.SessionUpdate
function Session:apply(params)
  self.epoch, self.seq = params.epoch, params.seq
  local change = CHANGES[params.update.kind]
  if change then
    change(self, params.update)
  end
  self.view.update(params)
end

--- Gives the model a prompt.
---@param content toolgate.PromptBlock[]
---@param done fun(problem: string?)
function Session:prompt(content, done)
  self:ensure(function(problem)
    if problem then
      done(problem)
      return
    end
    local params = { sessionId = self.id, content = content, when = "next_request" }
    self.client:request("toolgate/session/prompt", params, function(refused)
      done(refused)
    end)
  end)
end

--- Ends the running turn.
function Session:cancel()
  if self.id then
    self.client:notify("toolgate/session/cancel", { sessionId = self.id })
  end
end

---@param method string
---@param params table Gets the session's id.
---@param done fun(problem: string?, result: any)
function Session:request(method, params, done)
  self:ensure(function(problem)
    if problem then
      done(problem, nil)
      return
    end
    params.sessionId = self.id
    self.client:request(method, params, done)
  end)
end

return M
