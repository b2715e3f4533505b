--- The questions that are open: one is shown, the others queue behind it.
---
--- For: each question is bound to its id and digest and answered at most once; `ask/closed`
--- withdraws it wherever it stands.
--- Must never: answer because a view was closed, replace a question by another unseen, or let a
--- key through in the first moments of a question's visibility.

local config = require("toolgate.config")
local escape = require("toolgate.escape")
local float = require("toolgate.float")
local review = require("toolgate.review")

local M = {}

---@class toolgate.OpenAsk
---@field opened toolgate.AskOpened
---@field options toolgate.AskOption[]
---@field digest string
---@field review? toolgate.InlineReview
---@field pages? toolgate.Pages Reads what did not fit into the question.
---@field sent boolean An answer is on its way.

---@class toolgate.Pages
---@field lines string[] What was read so far, escaped.
---@field tail string The end of what was read: its last line may go on in the next page.
---@field complete boolean
---@field problem? string

---@class toolgate.Asks
---@field list toolgate.OpenAsk[] In order of arrival.
---@field private session toolgate.Session
---@field private changed fun()
---@field private float toolgate.Float
local Asks = {}
Asks.__index = Asks

--- Meanings that let the call run.
local ALLOWS = { allow_once = true, allow_session = true, allow_always = true }

---@param session toolgate.Session
---@param changed fun() Called when the number of open questions changes.
---@return toolgate.Asks
function M.new(session, changed)
  local self = setmetatable({ list = {}, session = session, changed = changed }, Asks)
  self.float = float.new(function(action)
    self:act(action)
  end)
  return self
end

---@param ask toolgate.Ask
---@return boolean
local function known(ask)
  return ask.kind == "permission" or ask.kind == "repetition" or ask.kind == "trust"
end

--- Decides hunks of a question that is reviewed in its file.
---@param ask toolgate.OpenAsk
---@param accept boolean
---@param placed? toolgate.Placed nil: all undecided ones.
function Asks:decide(ask, accept, placed)
  if ask.review:live() then
    ask.review:decide(accept, placed)
  end
end

--- Takes a question. One that is open already (a load tells them again) stays as it is.
---@param opened toolgate.AskOpened
function Asks:add(opened)
  if self:find(opened.askId) then
    return
  end
  if not known(opened.ask) then
    -- Silence would look like a turn that hangs.
    vim.notify(
      ("toolgate: a question of the kind %q cannot be shown by this plugin"):format(tostring(opened.ask.kind)),
      vim.log.levels.WARN
    )
    return
  end
  ---@type toolgate.OpenAsk
  local ask = { opened = opened, options = opened.ask.options, digest = opened.ask.digest or "", sent = false }
  self.list[#self.list + 1] = ask
  local content = opened.ask.content
  if content and content.payload.kind == "diff" then
    ask.review = review.new(opened, content.payload, function()
      self:answer(ask, self:option_for_hunks(ask))
    end)
  end
  if content and content.contentRef then
    ask.pages = { lines = {}, tail = "", complete = false }
    self:read_page(ask, 0)
  end
  vim.api.nvim_exec_autocmds("User", {
    pattern = "ToolgatePermission",
    modeline = false,
    data = { askId = opened.askId, sessionId = opened.sessionId, kind = opened.ask.kind },
  })
  self:show()
  self.changed()
end

--- Takes a page. Only whole lines are escaped, and a run of blank ones not before its end: it is
--- counted as one.
---@param pages toolgate.Pages
---@param text string
---@param last boolean
local function take_page(pages, text, last)
  local whole = pages.tail .. text
  -- Where the line ends behind which nothing but the next page tells how it goes on.
  local line_end = not last and whole:match("^.*%S[^\n]*()\n") or nil
  pages.complete, pages.tail = last, ""
  if line_end then
    whole, pages.tail = whole:sub(1, line_end - 1), whole:sub(line_end + 1)
  elseif not last then
    whole, pages.tail = nil, whole
  end
  if whole then
    vim.list_extend(pages.lines, escape.strict(whole, config.get().permission.scripts))
  end
end

---@private
---@param ask toolgate.OpenAsk
---@param offset integer
function Asks:read_page(ask, offset)
  local params = { contentRef = ask.opened.ask.content.contentRef, offset = offset }
  self.session:request("toolgate/call/output", params, function(problem, page)
    local pages = ask.pages --[[@as toolgate.Pages]]
    if problem then
      pages.problem = problem
    else
      local more = page.next and page.next > offset
      take_page(pages, page.text, not more)
      if more then
        self:read_page(ask, page.next)
      end
    end
    self.float:grow(ask)
  end)
end

---@param id toolgate.AskId
---@return toolgate.OpenAsk? ask
---@return integer? index
function Asks:find(id)
  for index, ask in ipairs(self.list) do
    if ask.opened.askId == id then
      return ask, index
    end
  end
  return nil
end

--- The question that is the person's turn.
---@return toolgate.OpenAsk?
function Asks:first()
  for _, ask in ipairs(self.list) do
    if not ask.sent then
      return ask
    end
  end
  return nil
end

--- The first question that is reviewed in a file; the one of the present buffer before others.
---@return toolgate.OpenAsk?
function Asks:reviewed()
  local any
  for _, ask in ipairs(self.list) do
    if ask.review and not ask.sent then
      if ask.review.buf == vim.api.nvim_get_current_buf() then
        return ask
      end
      any = any or ask
    end
  end
  return any
end

---@private
---@param ask toolgate.OpenAsk
---@return toolgate.OptionKind
function Asks:option_for_hunks(ask)
  local _, any = ask.review:choices()
  return any and "allow_once" or "reject_once"
end

--- Shows the question whose turn it is, or takes the view away when there is none.
function Asks:show()
  local ask = self:first()
  if not ask then
    self.float:close()
    return
  end
  local waiting = 0
  for _, each in ipairs(self.list) do
    waiting = waiting + (each.sent and 0 or 1)
  end
  if config.get().permission.ui == "select" then
    self:select(ask)
  else
    self.float:show(ask, waiting)
  end
end

--- Goes into the float.
function Asks:focus()
  self:show()
  self.float:focus()
end

---@private
---@param ask toolgate.OpenAsk
function Asks:select(ask)
  if self.selecting == ask then
    return
  end
  self.selecting = ask
  local text = table.concat(float.text(ask, 1), "\n")
  vim.ui.select(ask.options, {
    prompt = text,
    kind = "toolgate",
    format_item = function(option)
      return option.label
    end,
  }, function(choice)
    self.selecting = nil
    -- Leaving the list is no answer: the question stays open.
    if choice and self:find(ask.opened.askId) then
      self:answer(ask, choice.option)
    end
  end)
end

--- A question is over, by whomever.
---@param closed toolgate.AskClosed
function Asks:close(closed)
  local ask, index = self:find(closed.askId)
  if not ask then
    return
  end
  table.remove(self.list, index)
  if ask.review then
    ask.review:finish()
  end
  if not ask.sent and closed.by == "expired" then
    vim.notify("toolgate: nobody answered in time; that is not a refusal", vim.log.levels.WARN)
  end
  self:show()
  self.changed()
end

--- Takes all questions away: another session is shown, or the sidecar is gone.
function Asks:clear()
  for _, ask in ipairs(self.list) do
    if ask.review then
      ask.review:finish()
    end
  end
  self.list = {}
  self.float:close()
  self.changed()
end

--- Why an allow key does not work yet.
---@param ask toolgate.OpenAsk
---@return string?
function Asks:barred(ask)
  if ask.pages and ask.pages.problem then
    return "the rest of what would run cannot be read: " .. ask.pages.problem
  elseif ask.pages and not ask.pages.complete then
    return "the rest of what would run is being read"
  elseif ask.review and ask.review:visible() then
    return nil
  elseif config.get().permission.ui == "float" and not self.float:seen(ask) then
    return "scroll to the end of the question first"
  end
  return nil
end

--- Does what a key or a command says to the question whose turn it is.
---@param action string An option, or `message`.
---@param message? string A word to the model.
function Asks:act(action, message)
  local ask = self:first()
  if not ask then
    vim.notify("toolgate: no question is open", vim.log.levels.INFO)
    return
  end
  if not self.float:live(ask) then
    return
  end
  if action == "message" then
    vim.ui.input({ prompt = "Refuse, and tell the model: " }, function(text)
      if text and text ~= "" then
        self:answer(ask, "reject_once", text)
      end
    end)
    return
  end
  local offered = vim.tbl_filter(function(option)
    return option.option == action
  end, ask.options)
  if #offered == 0 then
    vim.notify("toolgate: this question does not offer " .. action, vim.log.levels.INFO)
    return
  end
  self:answer(ask, self:with_rest(ask, action), message)
end

--- When some hunks were decided by hand, allow and deny speak of the others.
---@private
---@param ask toolgate.OpenAsk
---@param action toolgate.OptionKind
---@return toolgate.OptionKind
function Asks:with_rest(ask, action)
  local review_of = ask.review
  if not review_of or #review_of:choices() == 0 then
    return action
  elseif ALLOWS[action] then
    review_of:fill(true)
    return action
  elseif action == "reject_once" then
    review_of:fill(false)
    return self:option_for_hunks(ask)
  end
  -- Refusing for good or stopping takes back what was accepted by hand.
  review_of:reopen()
  return action
end

--- Sends an answer. Hunks that were decided go with it.
---@param ask toolgate.OpenAsk
---@param option toolgate.OptionKind
---@param message? string
function Asks:answer(ask, option, message)
  if ask.sent or not self:find(ask.opened.askId) then
    return
  end
  local problem = ALLOWS[option] and self:barred(ask)
  if problem then
    vim.notify("toolgate: " .. problem, vim.log.levels.WARN)
    if ask.review and ask.review:undecided() == 0 then
      ask.review:reopen()
    end
    return
  end
  ask.sent = true
  local params = { askId = ask.opened.askId, digest = ask.digest, option = option, message = message }
  local choices = ask.review and ask.review:choices() or {}
  if #choices > 0 then
    params.hunks = choices
  end
  self:show()
  self.session.client:request("toolgate/ask/answer", params, function(refused)
    if refused and self:find(ask.opened.askId) then
      ask.sent = false
      if ask.review then
        ask.review:reopen()
      end
      self:show()
    end
    if refused then
      vim.notify("toolgate: the answer was not taken: " .. refused, vim.log.levels.WARN)
    end
  end)
  self.changed()
end

return M
