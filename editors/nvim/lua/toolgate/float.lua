--- The float that shows a question: what would run, why it asks, what may be answered.
---
--- For: drawing one question; the queue and the answers are `asks.lua`.
--- Must never: take the focus unasked, show text of a model unescaped, or answer.

local config = require("toolgate.config")
local escape = require("toolgate.escape")
local payload = require("toolgate.payload")

local M = {}

local namespace = vim.api.nvim_create_namespace("toolgate.float")

---@class toolgate.Float
---@field private act fun(action: string)
---@field private ask? toolgate.OpenAsk
---@field private buf? integer
---@field private win? integer
---@field private shown_at? integer When the present question became visible, in nanoseconds.
---@field private end_seen boolean
---@field private waiting integer
---@field private first integer Row of the first line of what would run.
---@field private past integer One past its last.
---@field private drawn integer How many of the read lines stand in the buffer.
---@field private mark? integer The extmark over what would run.
local Float = {}
Float.__index = Float

---@param act fun(action: string) What a key means.
---@return toolgate.Float
function M.new(act)
  local self = setmetatable({ act = act, end_seen = false, waiting = 0, first = 0, past = 0, drawn = 0 }, Float)
  local group = vim.api.nvim_create_augroup("toolgate.float", { clear = false })
  vim.api.nvim_create_autocmd({ "TabEnter", "VimResized" }, {
    group = group,
    desc = "Toolgate: keep an open question on the screen",
    callback = function()
      local ask = self.ask
      if ask and self:is_open() then
        self:close_window()
        self.ask = nil
        self:show(ask, self.waiting)
      end
    end,
  })
  vim.api.nvim_create_autocmd("WinResized", {
    group = group,
    desc = "Toolgate: keep an open question beside what it is about",
    callback = function()
      if self.ask and self:is_open() then
        self:place()
        self:look()
      end
    end,
  })
  vim.api.nvim_create_autocmd("WinScrolled", {
    group = group,
    desc = "Toolgate: the end of a question was seen",
    callback = function()
      self:look()
    end,
  })
  return self
end

---@param out string[]
---@param text string
local function add(out, text)
  vim.list_extend(out, escape.strict(text, config.get().permission.scripts))
end

---@param traits toolgate.Traits
---@return string
local function about_traits(traits)
  local words = { traits.readOnly and "changes nothing" or "may change things" }
  if traits.destructive then
    words[#words + 1] = "hard to undo"
  end
  if traits.openWorld then
    words[#words + 1] = "reaches beyond this machine"
  end
  return table.concat(words, ", ")
end

---@param out string[]
---@param why toolgate.Why
local function add_why(out, why)
  add(out, "Why: " .. why.text)
  if why.rule then
    add(out, ("Rule: %s (from %s)"):format(why.rule, why.source or "unknown"))
  end
end

---@param out string[]
---@param ask toolgate.OpenAsk
local function add_options(out, ask)
  local keys = config.get().permission.keys
  out[#out + 1] = ""
  for _, option in ipairs(ask.options) do
    add(out, ("[%s] %s"):format(keys[option.option] or "-", option.label))
    for _, rule in ipairs(option.rules or {}) do
      -- What is saved is always shown in full; a label that says it already says it once.
      if not option.label:find(rule, 1, true) then
        add(out, "      rule: " .. rule)
      end
    end
  end
  out[#out + 1] = ("[%s] refuse with a word to the model"):format(keys.message or "-")
  out[#out + 1] = ""
end

--- What to say beneath what was read so far; nil when all of it was read.
---@param pages toolgate.Pages
---@return string?
local function reading(pages)
  if pages.problem then
    local words = escape.strict("(the rest cannot be read: " .. pages.problem .. ")", config.get().permission.scripts)
    return table.concat(words, " ")
  end
  return not pages.complete and "(reading on)" or nil
end

---@param out string[]
---@param ask toolgate.OpenAsk
local function add_content(out, ask)
  local content = ask.opened.ask.content
  local shown_in_file = ask.review and ask.review:visible() and not ask.pages
  if shown_in_file then
    local name = vim.fn.fnamemodify(ask.review.diff.path, ":t")
    add(out, ("The change is shown in %s (%d hunks): :Toolgate next, accept, reject"):format(name, #ask.review.placed))
    return
  end
  out[#out + 1] = ask.review and "The whole change:" or "The whole of it:"
  if ask.pages then
    vim.list_extend(out, ask.pages.lines)
    out[#out + 1] = reading(ask.pages)
  else
    add(out, payload.plain(content.payload))
  end
end

--- The lines of a question.
---@param ask toolgate.OpenAsk
---@param waiting integer How many questions there are.
---@return string[] lines
---@return integer first Row of the first line of what would run, counted from 0.
---@return integer past One past its last.
function M.text(ask, waiting)
  local out, question = {}, ask.opened.ask
  if waiting > 1 then
    out[#out + 1] = ("(1 of %d)"):format(waiting)
  end
  if question.kind == "permission" then
    local named = vim.startswith(question.title, question.tool)
    add(out, named and question.title or ("%s: %s"):format(question.tool, question.title))
    out[#out + 1] = about_traits(question.traits)
    add_why(out, question.why)
    add_options(out, ask)
    local first = #out
    add_content(out, ask)
    local past = #out
    if question.modelDescription then
      out[#out + 1] = ""
      add(out, "The model says about it (not checked): " .. question.modelDescription)
    end
    return out, first + 1, past
  elseif question.kind == "repetition" then
    add(out, question.text)
  else
    add(out, "Trust this folder? " .. question.folder)
    for _, want in ipairs(question.wants) do
      add(out, "- " .. want)
    end
  end
  add_options(out, ask)
  return out, #out, #out
end

---@private
---@return boolean
function Float:is_open()
  return self.win ~= nil and vim.api.nvim_win_is_valid(self.win)
end

---@private
function Float:make_buffer()
  self.buf = vim.api.nvim_create_buf(false, true)
  vim.bo[self.buf].bufhidden = "wipe"
  vim.bo[self.buf].filetype = "toolgate-ask"
  local function map(key, about, run)
    vim.keymap.set("n", key, run, { buffer = self.buf, nowait = true, desc = "Toolgate: " .. about })
  end
  for action, key in pairs(config.get().permission.keys) do
    map(key, action, function()
      self.act(action)
    end)
  end
  map("q", "leave the question open", function()
    vim.cmd("wincmd p")
  end)
end

--- Rows and columns that the border takes.
local BORDER = 2

---@param rows integer
---@return integer
local function bounded(rows)
  return math.max(1, math.min(rows, math.floor(vim.o.lines * 0.8)))
end

--- The panel's window in this tab page.
---@return integer?
local function panel_window()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == "toolgate" then
      return win
    end
  end
  return nil
end

--- Where the float stands: over the panel, beneath its text where there is room, so that neither
--- the file nor the card of the call is hidden; else at the top, where the oldest text is.
---@private
---@param height integer
---@return vim.api.keyset.win_config
function Float:placement(height)
  local panel = panel_window()
  local least, most = 30, vim.o.columns - 2 * BORDER
  local wanted = panel and vim.api.nvim_win_get_width(panel) - BORDER or config.get().panel.width
  local width = math.max(least, math.min(wanted, most))
  local place = { relative = "editor", anchor = "NE", row = 1, col = vim.o.columns }
  place.width, place.height = width, height
  if not panel then
    return place
  end
  local top, left = unpack(vim.api.nvim_win_get_position(panel))
  place.anchor, place.row, place.col = "NW", top + 1, left
  -- Two rows are left for what the card may still have to say.
  local free = vim.api.nvim_win_get_height(panel) - vim.api.nvim_win_text_height(panel, {}).all - 2
  if free >= place.height + BORDER then
    place.row = top + vim.api.nvim_win_get_height(panel) - place.height - BORDER
  end
  return place
end

--- Fits the float to its text: how high it is shows only once it has its width.
---@private
function Float:place()
  local height = vim.api.nvim_win_get_height(self.win)
  vim.api.nvim_win_set_config(self.win, self:placement(height))
  local rows = bounded(vim.api.nvim_win_text_height(self.win, {}).all)
  if rows ~= height then
    vim.api.nvim_win_set_config(self.win, self:placement(rows))
  end
end

---@private
---@param from integer
---@param to integer
---@param lines string[]
function Float:write(from, to, lines)
  vim.bo[self.buf].modifiable = true
  vim.api.nvim_buf_set_lines(self.buf, from, to, false, lines)
  vim.bo[self.buf].modifiable = false
end

--- Colours what would run. One mark, however long it is.
---@private
function Float:mark_content()
  if self.past > self.first then
    self.mark = vim.api.nvim_buf_set_extmark(self.buf, namespace, self.first, 0, {
      id = self.mark,
      end_row = self.past,
      end_col = 0,
      strict = false,
      hl_group = "ToolgateAskContent",
    })
  end
end

---@private
---@param ask toolgate.OpenAsk
function Float:paint(ask)
  local lines, first, past = M.text(ask, self.waiting)
  self:write(0, -1, lines)
  vim.api.nvim_buf_clear_namespace(self.buf, namespace, 0, -1)
  self.first, self.past, self.mark = first, past, nil
  self.drawn = ask.pages and #ask.pages.lines or 0
  for row = 1, math.min(first, #lines) do
    local key = lines[row]:match("^%[.-%]")
    if key then
      vim.api.nvim_buf_set_extmark(self.buf, namespace, row - 1, 0, { end_col = #key, hl_group = "ToolgateAskKey" })
    end
  end
  self:mark_content()
end

--- More of what would run was read. Only what is new is drawn: the whole may be long.
---@param ask toolgate.OpenAsk
function Float:grow(ask)
  if self.ask ~= ask or not self:is_open() then
    return
  end
  local pages = ask.pages --[[@as toolgate.Pages]]
  local new = vim.list_slice(pages.lines, self.drawn + 1)
  new[#new + 1] = reading(pages)
  local from = self.first + self.drawn
  self:write(from, self.past, new)
  self.past, self.drawn = from + #new, #pages.lines
  self:mark_content()
  self:place()
  self:look()
  self:footer()
end

---@param ask toolgate.OpenAsk
---@return boolean
local function is_reading(ask)
  return ask.pages ~= nil and not ask.pages.complete and not ask.pages.problem
end

---@private
function Float:footer()
  if not self:is_open() then
    return
  end
  local text = " keys sleep for a moment "
  if self:past_guard() then
    text = self.end_seen and " keys work here: :Toolgate permission " or " scroll to the end, then allow "
  end
  if self.ask and is_reading(self.ask) then
    text = " reading on "
  end
  vim.api.nvim_win_set_config(self.win, { footer = text, footer_pos = "right" })
end

---@private
---@param rows integer How many there are at least.
function Float:open_window(rows)
  local options = self:placement(bounded(rows))
  options.style = "minimal"
  options.border = "rounded"
  options.title = { { " Toolgate asks ", "ToolgateAskTitle" } }
  options.footer = " keys sleep for a moment "
  options.footer_pos = "right"
  options.noautocmd = true
  options.zindex = 60
  self.win = vim.api.nvim_open_win(self.buf, false, options)
  vim.wo[self.win].wrap = true
  vim.wo[self.win].linebreak = true
  -- So that the rest of a long line is never taken for a line of its own.
  vim.wo[self.win].showbreak = "↪ "
  vim.wo[self.win].smoothscroll = true
  self:place()
end

--- Shows a question. The same one again is only drawn again.
---@param ask toolgate.OpenAsk
---@param waiting integer
function Float:show(ask, waiting)
  local again = self.ask == ask and self:is_open()
  self.ask, self.waiting = ask, waiting
  if again then
    self:refresh()
    return
  end
  self:close_window()
  -- Drawing may look at the time: the one of the question before must not count.
  self.end_seen, self.shown_at = false, nil
  self:make_buffer()
  self:paint(ask)
  self:open_window(vim.api.nvim_buf_line_count(self.buf))
  vim.cmd("redraw")
  -- Visible from here on, not before.
  self.shown_at = vim.uv.hrtime()
  self:wake(self.shown_at)
end

--- Says so when keys begin to count.
---@private
---@param shown_at integer The sight that it is about.
function Float:wake(shown_at)
  local left = config.get().permission.guard_ms - (vim.uv.hrtime() - shown_at) / 1000000
  if self.shown_at ~= shown_at then
    return
  elseif left > 0 then
    -- A timer may fire a little early, by the loop's own clock; then there is a rest to wait for.
    vim.defer_fn(function()
      self:wake(shown_at)
    end, math.ceil(left))
    return
  end
  self:look()
  self:footer()
end

--- Draws the present question again: more of it was read, or its file came into view.
function Float:refresh()
  if not self.ask or not self:is_open() then
    return
  end
  self:paint(self.ask)
  self:place()
  self.end_seen = false
  self:look()
  self:footer()
end

--- Notes whether the end of the question is in view.
---@private
function Float:look()
  if self.end_seen or not self.ask or not self:is_open() or is_reading(self.ask) then
    return
  end
  local view = vim.api.nvim_win_call(self.win, vim.fn.winsaveview)
  local width, height = vim.api.nvim_win_get_width(self.win), vim.api.nvim_win_get_height(self.win)
  local below = vim.api.nvim_win_text_height(self.win, { start_row = view.topline - 1 }).all
  if below - math.floor((view.skipcol or 0) / width) <= height then
    self.end_seen = true
    self:footer()
  end
end

---@private
---@return boolean
function Float:past_guard()
  local guard = config.get().permission.guard_ms * 1000000
  return self.shown_at ~= nil and vim.uv.hrtime() - self.shown_at >= guard
end

--- True when keys count for this question: it was in sight for long enough.
---@param ask toolgate.OpenAsk
---@return boolean
function Float:live(ask)
  if config.get().permission.ui == "select" then
    return true
  end
  if self.ask ~= ask or not self:is_open() then
    -- It was closed, which is no answer: it is shown again and the time begins anew.
    self:show(ask, self.waiting)
    return false
  end
  return self:past_guard()
end

--- True when all of this question was in view.
---@param ask toolgate.OpenAsk
---@return boolean
function Float:seen(ask)
  if self.ask ~= ask then
    return false
  end
  self:look()
  return self.end_seen
end

--- Goes into the float.
function Float:focus()
  if self:is_open() then
    vim.api.nvim_set_current_win(self.win)
  end
end

---@private
function Float:close_window()
  if self:is_open() then
    vim.api.nvim_win_close(self.win, true)
  end
  self.win, self.buf = nil, nil
end

--- Takes the view away.
function Float:close()
  self:close_window()
  self.ask, self.shown_at = nil, nil
end

return M
