--- Draws proposed hunks into a buffer, and knows where they are while the person types.
---
--- For: lines that would go are highlighted, lines that would come stand beneath as virtual
--- lines; extmarks carry the positions.
--- Must never: change the buffer's text, its version or its 'modified'.

local escape = require("toolgate.escape")

local M = {}

local namespace = vim.api.nvim_create_namespace("toolgate.review")

---@class toolgate.Placed A hunk in a buffer.
---@field hunk toolgate.Hunk
---@field number integer For the label.
---@field total integer
---@field mark? integer The extmark; nil while it has no place.
---@field below? integer The extmark on which the new lines hang.
---@field signs? integer[] The extmarks in front of the lines that go.
---@field at_end? boolean An insertion behind the last line.
---@field decision? boolean What the person said; nil: nothing yet.
---@field conflict boolean The lines beneath were changed.

---@param buf integer
---@param first integer
---@param lines string[]
---@return boolean
local function stands_at(buf, first, lines)
  if first < 0 or first > vim.api.nvim_buf_line_count(buf) then
    return false
  end
  return vim.deep_equal(vim.api.nvim_buf_get_lines(buf, first, first + #lines, false), lines)
end

--- Where the old lines stand now: at their place, or at the one other place near it.
---@param buf integer
---@param hunk toolgate.Hunk
---@return integer? row
function M.locate(buf, hunk)
  if stands_at(buf, hunk.oldStart, hunk.oldLines) then
    return hunk.oldStart
  end
  if #hunk.oldLines == 0 then
    return nil
  end
  local found
  for distance = 1, 200 do
    for _, row in ipairs({ hunk.oldStart - distance, hunk.oldStart + distance }) do
      if stands_at(buf, row, hunk.oldLines) then
        if found then
          return nil
        end
        found = row
      end
    end
  end
  return found
end

--- The rows of a hunk now: first, and one past the last.
---@param buf integer
---@param placed toolgate.Placed
---@return integer? first
---@return integer? past
function M.rows(buf, placed)
  if not placed.mark then
    return nil
  end
  local at = vim.api.nvim_buf_get_extmark_by_id(buf, namespace, placed.mark, { details = true })
  if not at[1] then
    return nil
  end
  if #placed.hunk.oldLines == 0 then
    -- An insertion at the very end hangs under the last line.
    local past_end = placed.at_end and 1 or 0
    return at[1] + past_end, at[1] + past_end
  end
  return at[1], at[3].end_row or at[1]
end

---@param placed toolgate.Placed
---@return string text
---@return string group
local function label(placed)
  local state = "proposed"
  if placed.conflict then
    state = "conflict: these lines were changed, it will not be applied"
  elseif placed.decision == true then
    state = "accepted"
  elseif placed.decision == false then
    state = "rejected"
  end
  local text = (" hunk %d/%d %s "):format(placed.number, placed.total, state)
  return text, placed.conflict and "ToolgateConflict" or "ToolgateHunk"
end

--- False for a hunk that was rejected or is a conflict: none of its lines will go or come, so
--- that only its label is drawn.
---@param placed toolgate.Placed
---@return boolean
local function would_happen(placed)
  return placed.decision ~= false and not placed.conflict
end

---@param placed toolgate.Placed
---@return table[] virt_lines
local function new_lines(placed)
  local lines = {}
  if not would_happen(placed) then
    return lines
  end
  for _, line in ipairs(placed.hunk.newLines) do
    local text = escape.panel(line):gsub("\n", " "):gsub("\t", (" "):rep(vim.o.tabstop))
    lines[#lines + 1] = { { "+ " .. text, "ToolgateAdded" } }
  end
  return lines
end

--- A sign in front of each line that goes: colour alone says nothing to many.
---@param buf integer
---@param placed toolgate.Placed
---@param first integer
---@param past integer
local function sign_lines(buf, placed, first, past)
  for _, mark in ipairs(placed.signs or {}) do
    vim.api.nvim_buf_del_extmark(buf, namespace, mark)
  end
  placed.signs = {}
  for row = first, past - 1 do
    placed.signs[#placed.signs + 1] = vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
      virt_text = { { "- ", "ToolgateRemoved" } },
      virt_text_pos = "inline",
      invalidate = true,
      undo_restore = false,
    })
  end
end

--- Lines that go, and beneath them those that come.
---@param buf integer
---@param placed toolgate.Placed
---@param first integer
---@param past integer
local function draw_removal(buf, placed, first, past)
  local gone = would_happen(placed)
  placed.mark = vim.api.nvim_buf_set_extmark(buf, namespace, first, 0, {
    id = placed.mark,
    end_row = past,
    end_col = 0,
    strict = false,
    hl_group = gone and "ToolgateRemoved" or nil,
    hl_eol = gone or nil,
    virt_text = { { label(placed) } },
    virt_text_pos = "eol",
    -- Lines put directly before or behind are not part of the hunk.
    right_gravity = true,
    end_right_gravity = false,
    undo_restore = false,
    priority = 200,
  })
  sign_lines(buf, placed, first, gone and past or first)
  -- A mark of its own: virtual lines hang on a mark's first row, these belong under the last.
  placed.below = vim.api.nvim_buf_set_extmark(buf, namespace, past - 1, 0, {
    id = placed.below,
    virt_lines = new_lines(placed),
    undo_restore = false,
  })
end

--- Lines that come where none go.
---@param buf integer
---@param placed toolgate.Placed
---@param row integer
local function draw_insertion(buf, placed, row)
  local count = vim.api.nvim_buf_line_count(buf)
  placed.at_end = row >= count
  local lines = new_lines(placed)
  table.insert(lines, 1, { { label(placed) } })
  placed.mark = vim.api.nvim_buf_set_extmark(buf, namespace, placed.at_end and count - 1 or row, 0, {
    id = placed.mark,
    virt_lines = lines,
    virt_lines_above = not placed.at_end,
    undo_restore = false,
  })
end

--- Draws a hunk, or draws it again where it is now.
---@param buf integer
---@param placed toolgate.Placed
function M.draw(buf, placed)
  local first, past = M.rows(buf, placed)
  if not first then
    first = M.locate(buf, placed.hunk)
    if not first then
      placed.conflict = true
      return
    end
    past = first + #placed.hunk.oldLines
  end
  if past > first then
    draw_removal(buf, placed, first, past --[[@as integer]])
  elseif #placed.hunk.oldLines == 0 then
    draw_insertion(buf, placed, first)
    M.show_above_first_line(buf, placed, first)
  else
    -- Every line of it was deleted: only the label is left.
    placed.mark = vim.api.nvim_buf_set_extmark(buf, namespace, first, 0, {
      id = placed.mark,
      virt_text = { { label(placed) } },
      undo_restore = false,
      strict = false,
    })
  end
end

--- Virtual lines above the first line are out of sight unless the window makes room for them.
---@param buf integer
---@param placed toolgate.Placed
---@param first integer
function M.show_above_first_line(buf, placed, first)
  if first ~= 0 or #placed.hunk.oldLines > 0 or placed.at_end then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      if view.topline == 1 then
        view.topfill = #new_lines(placed) + 1
        vim.fn.winrestview(view)
      end
    end)
  end
end

--- Looks whether the lines beneath a hunk are still those that it would take away.
---@param buf integer
---@param placed toolgate.Placed
---@return boolean changed True when that is another answer than before.
function M.check(buf, placed)
  local first, past = M.rows(buf, placed)
  if not first then
    return false
  end
  local present = vim.api.nvim_buf_get_lines(buf, first, past --[[@as integer]], false)
  local conflict = not vim.deep_equal(present, placed.hunk.oldLines)
  local changed = conflict ~= placed.conflict
  placed.conflict = conflict
  return changed
end

--- Takes a hunk's drawing away.
---@param buf integer
---@param placed toolgate.Placed
function M.erase(buf, placed)
  if vim.api.nvim_buf_is_valid(buf) then
    for _, mark in ipairs({ placed.mark or false, placed.below or false }) do
      if mark then
        vim.api.nvim_buf_del_extmark(buf, namespace, mark)
      end
    end
    sign_lines(buf, placed, 0, 0)
  end
  placed.mark, placed.below = nil, nil
end

return M
