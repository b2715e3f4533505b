--- The inline review of a proposed edit: which hunk was accepted, which rejected.
---
--- For: a question about a diff is decided hunk by hunk in the file itself; the answer goes out
--- once nothing is undecided.
--- Must never: change a buffer's text, or answer for a hunk that the person did not decide.

local config = require("toolgate.config")
local hunks = require("toolgate.hunks")

local M = {}

---@class toolgate.InlineReview
---@field ask toolgate.AskOpened
---@field diff toolgate.Diff
---@field placed toolgate.Placed[]
---@field buf? integer The file's buffer, once it is loaded.
---@field private decided fun(review: toolgate.InlineReview)
---@field private group integer
---@field private over boolean
---@field private drawn_at? integer When the hunks became visible, in nanoseconds.
local Review = {}
Review.__index = Review

---@param path string
---@return integer?
local function loaded_buffer(path)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) == path then
      return buf
    end
  end
  return nil
end

--- Begins the review of a question whose content is a diff.
---@param ask toolgate.AskOpened
---@param diff toolgate.Diff
---@param decided fun(review: toolgate.InlineReview) Called when no hunk is undecided.
---@return toolgate.InlineReview
function M.new(ask, diff, decided)
  local self = setmetatable({ ask = ask, diff = diff, placed = {}, decided = decided, over = false }, Review)
  for number, hunk in ipairs(diff.hunks) do
    self.placed[number] = { hunk = hunk, number = number, total = #diff.hunks, conflict = false }
  end
  self.group = vim.api.nvim_create_augroup("toolgate.review." .. ask.askId, { clear = true })
  vim.api.nvim_create_autocmd("BufReadPost", {
    group = self.group,
    pattern = "*",
    desc = "Toolgate: draw a proposed change when its file is opened",
    callback = function(event)
      if not self.buf and vim.api.nvim_buf_get_name(event.buf) == self.diff.path then
        self:bind(event.buf)
      end
    end,
  })
  local buf = not diff.creates and loaded_buffer(diff.path) or nil
  if buf then
    self:bind(buf)
  end
  return self
end

---@private
---@param buf integer
function Review:bind(buf)
  self.buf = buf
  self:draw()
  self.drawn_at = vim.uv.hrtime()
  local planned = false
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function()
      if self.over or self.buf ~= buf then
        return true
      end
      if not planned then
        planned = true
        vim.schedule(function()
          planned = false
          self:follow()
        end)
      end
    end,
    on_detach = function()
      if self.buf == buf then
        self.buf = nil
      end
    end,
  })
  for action, key in pairs(config.get().review.keys) do
    vim.keymap.set("n", key, "<Cmd>Toolgate " .. action .. "<CR>", { buffer = buf, desc = "Toolgate: " .. action })
  end
end

---@private
function Review:draw()
  if self.buf and vim.api.nvim_buf_is_valid(self.buf) then
    for _, placed in ipairs(self.placed) do
      hunks.draw(self.buf, placed)
    end
  end
end

--- Looks again at hunks whose lines the person may have changed.
---@private
function Review:follow()
  if self.over or not self.buf or not vim.api.nvim_buf_is_valid(self.buf) then
    return
  end
  for _, placed in ipairs(self.placed) do
    if hunks.check(self.buf, placed) then
      hunks.draw(self.buf, placed)
    end
  end
end

--- Takes over what the sidecar says about the hunks.
---@param diff toolgate.Diff
function Review:update(diff)
  for _, hunk in ipairs(diff.hunks) do
    for _, placed in ipairs(self.placed) do
      if placed.hunk.hunkId == hunk.hunkId then
        placed.conflict = hunk.state == "conflict" or placed.conflict
      end
    end
  end
  self:draw()
end

--- True when the person can see the hunks: their file is in a window.
---@return boolean
function Review:visible()
  return self.buf ~= nil and #vim.fn.win_findbuf(self.buf) > 0
end

--- True when a key may decide a hunk: it was in sight for long enough.
---@return boolean
function Review:live()
  local guard = config.get().permission.guard_ms * 1000000
  return self.drawn_at == nil or vim.uv.hrtime() - self.drawn_at >= guard
end

--- The hunk at the cursor, if the cursor's buffer is the reviewed one.
---@return toolgate.Placed?
function Review:at_cursor()
  if self.buf ~= vim.api.nvim_get_current_buf() then
    return nil
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, placed in ipairs(self.placed) do
    local first, past = hunks.rows(self.buf, placed)
    if first and row >= first and row < math.max(past, first + 1) then
      return placed
    elseif first and placed.at_end and row == first - 1 then
      return placed
    end
  end
  return nil
end

--- Decides what is undecided, without an answer.
---@param accept boolean
function Review:fill(accept)
  for _, each in ipairs(self.placed) do
    if each.decision == nil then
      self:set(each, accept)
    end
  end
end

---@private
---@param placed toolgate.Placed
---@param accept boolean
function Review:set(placed, accept)
  placed.decision = accept
  if self.buf then
    hunks.draw(self.buf, placed)
  end
end

--- Decides one hunk, or all that are undecided. The last decision is the answer.
---@param accept boolean
---@param placed? toolgate.Placed nil: all undecided ones.
function Review:decide(accept, placed)
  if placed then
    self:set(placed, accept)
  else
    self:fill(accept)
  end
  if self:undecided() == 0 then
    self.decided(self)
  end
end

---@return integer
function Review:undecided()
  local count = 0
  for _, placed in ipairs(self.placed) do
    count = count + (placed.decision == nil and 1 or 0)
  end
  return count
end

--- The choices as an answer carries them; undecided hunks follow the option and are not named.
---@return toolgate.HunkChoice[] choices
---@return boolean any True when at least one hunk is accepted.
function Review:choices()
  local choices, any = {}, false
  for _, placed in ipairs(self.placed) do
    if placed.decision ~= nil then
      choices[#choices + 1] = { hunkId = placed.hunk.hunkId, accept = placed.decision }
      any = any or placed.decision
    end
  end
  return choices, any
end

--- Forgets the decisions: the answer was not taken.
function Review:reopen()
  for _, placed in ipairs(self.placed) do
    placed.decision = nil
  end
  self:draw()
end

--- Goes to the file, and there to the next or previous hunk.
---@param direction 1|-1
function Review:jump(direction)
  if self.diff.creates then
    vim.notify("toolgate: the file is new, the question shows its text", vim.log.levels.INFO)
    return
  end
  if not self.buf or vim.api.nvim_get_current_buf() ~= self.buf then
    M.show_file(self.diff.path)
    if not self.buf then
      self:bind(vim.api.nvim_get_current_buf())
    end
    -- From outside the file the first hunk in that direction is the next one.
    vim.api.nvim_win_set_cursor(0, { direction > 0 and 1 or vim.api.nvim_buf_line_count(0), 0 })
    if self:at_cursor() then
      return
    end
  end
  local here = vim.api.nvim_win_get_cursor(0)[1] - 1
  local rows = {}
  for _, placed in ipairs(self.placed) do
    local first = hunks.rows(self.buf, placed)
    if first then
      rows[#rows + 1] = math.min(first, vim.api.nvim_buf_line_count(self.buf) - 1)
    end
  end
  table.sort(rows)
  local from, to = 1, #rows
  if direction < 0 then
    from, to = to, from
  end
  for index = from, to, direction do
    if (rows[index] - here) * direction > 0 then
      vim.api.nvim_win_set_cursor(0, { rows[index] + 1, 0 })
      return
    end
  end
  vim.notify("toolgate: no more proposed changes here", vim.log.levels.INFO)
end

--- Shows a file in a window for files, not in the panel.
---@param path string
function M.show_file(path)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)) == path then
      vim.api.nvim_set_current_win(win)
      return
    end
  end
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local plain = vim.api.nvim_win_get_config(win).relative == ""
    if plain and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == "" then
      vim.api.nvim_set_current_win(win)
      vim.cmd.edit(vim.fn.fnameescape(path))
      return
    end
  end
  vim.cmd("topleft vsplit " .. vim.fn.fnameescape(path))
end

--- The file's text with every hunk that is not rejected, for a comparison.
---@return string[]
function Review:proposed_lines()
  local lines = self.buf and vim.api.nvim_buf_get_lines(self.buf, 0, -1, false) or {}
  for index = #self.placed, 1, -1 do
    local placed = self.placed[index]
    local first, past = 0, 0
    if self.buf then
      first, past = hunks.rows(self.buf, placed)
    end
    if first and placed.decision ~= false and not placed.conflict then
      local head = vim.list_slice(lines, 1, first)
      vim.list_extend(head, placed.hunk.newLines)
      lines = vim.list_extend(head, vim.list_slice(lines, past + 1))
    end
  end
  return lines
end

--- Ends the review and takes its drawings away.
function Review:finish()
  if self.over then
    return
  end
  self.over = true
  vim.api.nvim_del_augroup_by_id(self.group)
  if self.buf and vim.api.nvim_buf_is_valid(self.buf) then
    for _, placed in ipairs(self.placed) do
      hunks.erase(self.buf, placed)
    end
    for _, key in pairs(config.get().review.keys) do
      pcall(vim.keymap.del, "n", key, { buffer = self.buf })
    end
  end
end

return M
