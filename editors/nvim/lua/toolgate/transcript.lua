--- Draws what happens in a session into the panel's buffer.
---
--- For: streamed text, one card a call, notices. It keeps the calls it was told of.
--- Must never: ask the sidecar anything, open a window, or take the focus.

local blocks = require("toolgate.blocks")
local card = require("toolgate.card")
local config = require("toolgate.config")
local escape = require("toolgate.escape")
local payload = require("toolgate.payload")

local M = {}

---@class toolgate.Transcript
---@field buf integer
---@field calls table<toolgate.CallId, toolgate.Call>
---@field private cards table<toolgate.CallId, toolgate.Block>
---@field private open_calls table<toolgate.CallId, true> Not settled.
---@field private blocks toolgate.Blocks
---@field private stream? "answer"|"thought" What the last block's text is.
---@field private last_is_card boolean
---@field private dirty table<toolgate.CallId, true>
---@field private timer? uv.uv_timer_t
local Transcript = {}
Transcript.__index = Transcript

---@return integer
local function now()
  return math.floor(vim.uv.hrtime() / 1000000)
end

---@param buf integer The panel's buffer.
---@return toolgate.Transcript
function M.new(buf)
  local self = setmetatable({ buf = buf, blocks = blocks.new(buf) }, Transcript)
  self:reset()
  return self
end

--- Forgets everything.
function Transcript:reset()
  self.calls, self.cards, self.open_calls, self.dirty = {}, {}, {}, {}
  self.stream, self.last_is_card = nil, false
  self:following(function()
    self.blocks:clear()
    self.blocks:add({ { text = "# Toolgate" } }, { kind = "head" })
  end)
end

--- Does something to the buffer and keeps those windows at its end that were there.
---@private
---@param act fun()
function Transcript:following(act)
  -- The person may have wiped the buffer; the panel is made anew when it is opened.
  if not vim.api.nvim_buf_is_valid(self.buf) then
    return
  end
  local last = vim.api.nvim_buf_line_count(self.buf)
  local follow = {}
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    if vim.api.nvim_win_get_cursor(win)[1] >= last then
      follow[#follow + 1] = win
    end
  end
  act()
  local count = vim.api.nvim_buf_line_count(self.buf)
  for _, win in ipairs(follow) do
    vim.api.nvim_win_set_cursor(win, { count, 0 })
  end
end

---@private
---@param text string
---@param stream "answer"|"thought"
function Transcript:say(text, stream)
  self:following(function()
    if self.stream ~= stream then
      self.stream = stream
      local start = stream == "thought" and { { text = "" }, { text = "> " } } or { { text = "" }, { text = "" } }
      self.blocks:add(start, { kind = stream })
    end
    text = escape.panel(text)
    self.blocks:append(stream == "thought" and text:gsub("\n", "\n> ") or text)
  end)
end

---@private
---@param lines toolgate.Line[]
---@param tag table
function Transcript:put(lines, tag)
  self.stream = nil
  self:following(function()
    self.blocks:add(lines, tag)
  end)
end

---@param text string
---@return toolgate.Line[]
local function lines_of(text)
  return payload.lines({ kind = "markdown", text = text })
end

local UPDATES = {}

function UPDATES:user_message(update)
  local lines = { { text = "" }, { text = "## You" }, { text = "" } }
  self:put(vim.list_extend(lines, lines_of(update.text)), { kind = "user" })
end

function UPDATES:agent_message_delta(update)
  self:say(update.text, "answer")
end

function UPDATES:thought_delta(update)
  self:say(update.text, "thought")
end

function UPDATES:call_started(update, nested)
  self.calls[update.callId] = {
    id = update.callId,
    tool = update.tool,
    kind = update.callKind,
    title = update.title,
    locations = update.locations or {},
    state = "arrived",
    nested = nested,
  }
  self.open_calls[update.callId] = true
  self.stream = nil
  self:following(function()
    if not self.last_is_card and not self.blocks:ends_blank() then
      self.blocks:add({ { text = "" } }, { kind = "gap" })
    end
    local call = self.calls[update.callId]
    self.cards[update.callId] = self.blocks:add(card.lines(call, now(), config.get()), { kind = "call", call = call })
  end)
  self:tick()
end

function UPDATES:call_state(update)
  local call = self.calls[update.callId]
  if call then
    call.state, call.waits = update.state, update.waits
    if update.state == "running" and not call.began then
      call.began = now()
    end
    self.dirty[call.id] = true
  end
end

function UPDATES:call_progress(update)
  local call = self.calls[update.callId]
  if call then
    call.tail, call.bytes = update.text, update.bytes
    self.dirty[call.id] = true
  end
end

function UPDATES:call_settled(update)
  local call = self.calls[update.callId]
  if call then
    call.status, call.content, call.why = update.status, update.content, update.why
    call.duration, call.waits, call.tail = update.durationMs, nil, nil
    self.open_calls[call.id] = nil
    self.dirty[call.id] = true
  end
end

function UPDATES:review_changed(update)
  local call = self.calls[update.callId]
  if call and call.content and call.content.payload.kind == "diff" then
    call.content.payload = vim.tbl_extend("force", update.diff, { kind = "diff" })
    self.dirty[call.id] = true
  end
end

function UPDATES:plan(update)
  local lines = { { text = "" }, { text = "Plan:" } }
  vim.list_extend(lines, payload.lines({ kind = "plan", entries = update.entries }))
  self:put(lines, { kind = "plan" })
end

function UPDATES:notice(update)
  local lines = { { text = "" } }
  for index, line in ipairs(lines_of(update.text)) do
    local text = index == 1 and ("%s: %s"):format(update.level, line.text) or line.text
    lines[#lines + 1] = { text = text, group = "ToolgateNotice" }
  end
  self:put(lines, { kind = "notice" })
end

local STOPPED = {
  max_tokens = "the answer was cut by the model's limit",
  max_turn_requests = "the limit of requests is reached",
  refusal = "the model refused",
  cancelled = "stopped",
  repetition = "a call kept failing in the same way",
  error = "failed",
}

function UPDATES:turn_ended(update)
  if update.stopReason ~= "end_turn" then
    local text = STOPPED[update.stopReason] or update.stopReason
    text = update.message and (text .. ": " .. update.message) or text
    UPDATES.notice(self, { level = "turn ended", text = text })
  end
  self.stream = nil
end

--- Draws one update. Those that draw nothing (usage, mode, …) are left to the session.
---@param params toolgate.SessionUpdate
function Transcript:apply(params)
  if not vim.api.nvim_buf_is_valid(self.buf) then
    return
  end
  local update = params.update
  local draw = UPDATES[update.kind]
  if not draw then
    return
  end
  local nested = type(params.agentId) == "string"
  if nested and (update.kind == "agent_message_delta" or update.kind == "thought_delta") then
    -- A nested agent's words belong to the call it serves, not between the main model's words.
    local parent = params.parentCallId and self.calls[params.parentCallId]
    if parent and not parent.status then
      parent.tail = (parent.tail or ""):sub(-2000) .. update.text
      self.dirty[parent.id] = true
    end
    return
  end
  draw(self, update, nested)
  self.last_is_card = self.blocks:last().tag.kind == "call"
end

--- Puts a word of the plugin itself between what the session tells.
---@param level string
---@param text string
function Transcript:tell(level, text)
  UPDATES.notice(self, { level = level, text = text })
  self.last_is_card = false
end

--- Draws the cards that changed, once for all updates of a slice.
function Transcript:flush()
  local dirty = self.dirty
  if not next(dirty) then
    return
  end
  self.dirty = {}
  self:following(function()
    for id in pairs(dirty) do
      self:draw_card(id)
    end
  end)
  self:tick()
end

---@param win integer
---@param row integer
---@param height integer
local function fold(win, row, height)
  if height < 2 then
    return
  end
  vim.api.nvim_win_call(win, function()
    if vim.fn.foldlevel(row + 1) == 0 then
      vim.cmd(("silent %d,%dfold"):format(row + 1, row + height))
    end
  end)
end

---@private
---@param id toolgate.CallId
function Transcript:draw_card(id)
  local call, block = self.calls[id], self.cards[id]
  self.blocks:replace(block, card.lines(call, now(), config.get()))
  if call.status then
    local row = self.blocks:row(block)
    for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
      fold(win, row, block.height)
    end
  end
end

--- Folds all settled cards in a window that was just opened.
---@param win integer
function Transcript:fold_all(win)
  local row = 0
  for _, block in ipairs(self.blocks.list) do
    local call = block.tag.call
    if call and call.status then
      fold(win, row, block.height)
    end
    row = row + block.height
  end
end

--- Keeps the elapsed times going while a call runs.
---@private
function Transcript:tick()
  local running = next(self.open_calls) ~= nil
  if running and not self.timer then
    self.timer = assert(vim.uv.new_timer()) -- new_timer fails only when memory does
    self.timer:start(
      1000,
      1000,
      vim.schedule_wrap(function()
        self:second()
      end)
    )
  elseif not running and self.timer then
    self.timer:stop()
    self.timer:close()
    self.timer = nil
  end
end

---@private
function Transcript:second()
  if not vim.api.nvim_buf_is_valid(self.buf) then
    self.open_calls = {}
    self:tick()
    return
  end
  for id in pairs(self.open_calls) do
    if self.calls[id].began then
      self.dirty[id] = true
    end
  end
  self:flush()
end

--- Marks calls that no sidecar runs any more.
function Transcript:lost()
  for id in pairs(self.open_calls) do
    self.calls[id].waits = "the sidecar is gone"
    self.dirty[id] = true
  end
  self:flush()
end

--- The call whose card a row belongs to.
---@param row integer Counted from 0.
---@return toolgate.Call?
function Transcript:call_at(row)
  local block = self.blocks:at(row)
  return block and block.tag.call or nil
end

--- First rows of all cards, in order.
---@return integer[]
function Transcript:card_rows()
  local rows, row = {}, 0
  for _, block in ipairs(self.blocks.list) do
    if block.tag.call then
      rows[#rows + 1] = row
    end
    row = row + block.height
  end
  return rows
end

--- Calls that are not settled, for the status line.
---@return toolgate.Call[]
function Transcript:running()
  local calls = {}
  for id in pairs(self.open_calls) do
    calls[#calls + 1] = self.calls[id]
  end
  table.sort(calls, function(a, b)
    return a.id < b.id
  end)
  return calls
end

return M
