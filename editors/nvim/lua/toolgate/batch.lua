--- Handles what arrives in slices, so that no handler holds up the editor.
---
--- For: session updates and questions, in the order in which they came.
--- Must never: handle an item in the tick in which it was pushed, drop one, or change the order.

local M = {}

--- How long one slice may take, in nanoseconds. Half of a frame: the other half is the editor's.
local BUDGET = 8 * 1000 * 1000

---@class toolgate.Batch
---@field private items any[]
---@field private first integer
---@field private last integer
---@field private planned boolean
---@field private handle fun(item: any)
---@field private clock fun(): integer
---@field private later fun(run: fun())
---@field private after? fun()
local Batch = {}
Batch.__index = Batch

---@param run fun()
local function next_turn_of_the_loop(run)
  -- A timer and not `vim.schedule`: scheduled functions that schedule themselves run again
  -- before the editor looks at its input.
  vim.defer_fn(run, 1)
end

--- Makes a queue.
---@param handle fun(item: any)
---@param after? fun() Runs once at the end of each slice: redraws that need not happen per item.
---@param clock? fun(): integer Nanoseconds.
---@param later? fun(run: fun())
---@return toolgate.Batch
function M.new(handle, after, clock, later)
  return setmetatable({
    items = {},
    first = 1,
    last = 0,
    planned = false,
    handle = handle,
    after = after,
    clock = clock or vim.uv.hrtime,
    later = later or next_turn_of_the_loop,
  }, Batch)
end

--- Adds an item.
---@param item any
function Batch:push(item)
  self.last = self.last + 1
  self.items[self.last] = item
  self:plan()
end

---@private
function Batch:plan()
  if self.planned or self.first > self.last then
    return
  end
  self.planned = true
  self.later(function()
    self.planned = false
    self:slice()
    self:plan()
  end)
end

---@private
function Batch:slice()
  local started = self.clock()
  while self.first <= self.last do
    local item = self.items[self.first]
    self.items[self.first] = nil
    self.first = self.first + 1
    -- One broken item must not lose those behind it.
    local ok, problem = xpcall(self.handle, debug.traceback, item)
    if not ok then
      vim.notify("toolgate: a message could not be shown: " .. tostring(problem), vim.log.levels.ERROR)
    end
    if self.clock() - started >= BUDGET then
      break
    end
  end
  if self.after then
    self.after()
  end
end

return M
