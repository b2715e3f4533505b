--- One tool call as lines: a heading, and beneath it what there is to see.
---
--- For: the panel. Pure: the same call and time give the same lines.
--- Must never: let unescaped text of a model or a tool through, or say by colour alone.

local escape = require("toolgate.escape")
local payload = require("toolgate.payload")

local M = {}

---@class toolgate.Call
---@field id toolgate.CallId
---@field tool string
---@field kind toolgate.CallKind
---@field title string
---@field locations string[]
---@field state toolgate.CallState
---@field waits? string
---@field began? integer Milliseconds of the editor's clock when it began to run.
---@field tail? string Newest output.
---@field bytes? integer
---@field status? toolgate.CallStatus Set once it is settled.
---@field content? toolgate.Content
---@field why? toolgate.Why
---@field duration? integer Milliseconds.
---@field nested boolean True when a nested agent made it.

---@param text string
---@return string
local function one_line(text)
  return (escape.panel(text):gsub("%s*\n%s*", " "))
end

--- A title of at most this width: a long command would push the state out of sight. The whole of
--- it stands in the question and in the full output.
---@param title string
---@param width integer
---@return string
local function shortened(title, width)
  if vim.fn.strdisplaywidth(title) <= width then
    return title
  end
  local count = math.min(vim.fn.strchars(title), width - 1)
  while vim.fn.strdisplaywidth(vim.fn.strcharpart(title, 0, count)) > width - 1 do
    count = count - 1
  end
  return vim.fn.strcharpart(title, 0, count) .. "…"
end

--- A duration for the person.
---@param ms integer
---@return string
function M.elapsed(ms)
  if ms < 1000 then
    return ("%d ms"):format(ms)
  elseif ms < 60 * 1000 then
    return ("%d s"):format(math.floor(ms / 1000))
  end
  return ("%d min %d s"):format(math.floor(ms / 60000), math.floor(ms / 1000) % 60)
end

--- How many hunks of an edit were not applied: what "completed" alone would hide.
---@param call toolgate.Call
---@return string
local function not_applied(call)
  local payload_of = call.content and call.content.payload
  if not payload_of or payload_of.kind ~= "diff" then
    return ""
  end
  local count = { rejected = 0, conflict = 0 }
  for _, hunk in ipairs(payload_of.hunks) do
    if count[hunk.state] then
      count[hunk.state] = count[hunk.state] + 1
    end
  end
  local out = ""
  for _, state in ipairs({ "rejected", "conflict" }) do
    if count[state] > 0 then
      out = out .. (", %d/%d %s"):format(count[state], #payload_of.hunks, state)
    end
  end
  return out
end

--- What a call does now, or how it ended.
---@param call toolgate.Call
---@param now integer Milliseconds.
---@return string
function M.state(call, now)
  if call.status then
    local took = call.duration and call.duration > 0 and ", " .. M.elapsed(call.duration) or ""
    return call.status .. not_applied(call) .. took
  end
  local text = call.waits and ("waits: " .. one_line(call.waits)) or call.state
  if call.began then
    text = text .. ", " .. M.elapsed(math.max(0, now - call.began))
  end
  return text
end

---@param out toolgate.Line[]
---@param lines toolgate.Line[]
---@param most integer
---@param from_end boolean
local function add_part(out, lines, most, from_end)
  local left_out = #lines - most
  local first = from_end and math.max(1, left_out + 1) or 1
  if left_out > 0 and from_end then
    out[#out + 1] = { text = ("    (%d lines above, o shows all)"):format(left_out) }
  end
  for index = first, math.min(#lines, first + most - 1) do
    out[#out + 1] = { text = "    " .. lines[index].text, group = lines[index].group }
  end
  if left_out > 0 and not from_end then
    out[#out + 1] = { text = ("    (%d more lines, o shows all)"):format(left_out) }
  end
end

---@param out toolgate.Line[]
---@param call toolgate.Call
---@param most integer
local function add_result(out, call, most)
  if call.why then
    local rule = call.why.rule and (" (rule %s, from %s)"):format(call.why.rule, call.why.source or "?") or ""
    out[#out + 1] = { text = "    " .. one_line(call.why.text .. rule) }
  end
  local content = call.content
  if content then
    local kind = content.payload.kind
    -- A log's end says how it went; a file's beginning says what it is.
    add_part(out, payload.lines(content.payload), most, kind == "terminal")
    if content.contentRef then
      out[#out + 1] = { text = ("    (%d bytes in all, o shows them)"):format(content.totalBytes or 0) }
    end
  end
end

--- The lines of a card. The first is the heading and stays visible when the card is folded.
---@param call toolgate.Call
---@param now integer Milliseconds of the editor's clock.
---@param config toolgate.Config
---@return toolgate.Line[]
function M.lines(call, now, config)
  local icon = config.icons[call.kind] or config.icons.other
  local indent = call.nested and "  " or ""
  local state = M.state(call, now)
  local room = config.panel.width - vim.fn.strdisplaywidth(indent .. icon .. "  — " .. state)
  local heading = ("%s%s %s — %s"):format(indent, icon, shortened(one_line(call.title), math.max(room, 20)), state)
  local out = { { text = heading, group = "ToolgateCard" } }
  if call.status then
    add_result(out, call, config.panel.card_lines)
  elseif call.tail and call.tail ~= "" then
    local lines = payload.lines({ kind = "text", text = (call.tail:gsub("\27%[[%d;:]*m", "")) })
    local most = config.panel.live_lines
    for index = math.max(1, #lines - most + 1), #lines do
      out[#out + 1] = { text = "    " .. lines[index].text, group = "ToolgateOutput" }
    end
  end
  return out
end

return M
