--- A buffer as a list of blocks, each some whole lines, the newest at the end.
---
--- For: the panel. A block is replaced or appended to without looking at those above it, so a
--- long session costs nothing more per update.
--- Must never: be used on a buffer that somebody else writes to; heights are counted, not read.

local M = {}

local namespace = vim.api.nvim_create_namespace("toolgate.panel")

---@class toolgate.Block
---@field height integer
---@field tag any What the owner finds under the cursor.

---@class toolgate.Blocks
---@field buf integer
---@field list toolgate.Block[]
---@field private total integer
local Blocks = {}
Blocks.__index = Blocks

---@param buf integer Empty.
---@return toolgate.Blocks
function M.new(buf)
  return setmetatable({ buf = buf, list = {}, total = 0 }, Blocks)
end

---@param first integer Row, counted from 0.
---@param past integer
---@param lines string[]
---@private
function Blocks:write(first, past, lines)
  vim.bo[self.buf].modifiable = true
  vim.api.nvim_buf_set_lines(self.buf, first, past, false, lines)
  vim.bo[self.buf].modifiable = false
end

---@param first integer
---@param lines toolgate.Line[]
---@private
function Blocks:paint(first, lines)
  for index, line in ipairs(lines) do
    if line.group then
      vim.api.nvim_buf_set_extmark(self.buf, namespace, first + index - 1, 0, {
        end_row = first + index,
        hl_group = line.group,
        hl_eol = true,
        priority = 150,
        strict = false,
      })
    end
  end
end

---@param lines toolgate.Line[]
---@return string[]
local function texts(lines)
  return vim.tbl_map(function(line)
    return line.text
  end, lines)
end

--- Adds a block at the end.
---@param lines toolgate.Line[]
---@param tag any
---@return toolgate.Block
function Blocks:add(lines, tag)
  -- The first block takes the place of the one empty line that an empty buffer has.
  local first = self.total
  self:write(first, self.total == 0 and 1 or first, texts(lines))
  self:paint(first, lines)
  local block = { height = #lines, tag = tag }
  self.list[#self.list + 1] = block
  self.total = self.total + #lines
  return block
end

--- First row of a block, counted from 0.
---@param block toolgate.Block
---@return integer?
function Blocks:row(block)
  local row = self.total
  -- From the end: what changes is nearly always near it.
  for index = #self.list, 1, -1 do
    row = row - self.list[index].height
    if self.list[index] == block then
      return row
    end
  end
  return nil
end

--- Replaces a block's lines.
---@param block toolgate.Block
---@param lines toolgate.Line[]
function Blocks:replace(block, lines)
  local row = self:row(block)
  if not row then
    return
  end
  vim.api.nvim_buf_clear_namespace(self.buf, namespace, row, row + block.height)
  self:write(row, row + block.height, texts(lines))
  self:paint(row, lines)
  self.total = self.total + #lines - block.height
  block.height = #lines
end

--- Appends text to the last line of the last block.
---@param text string
function Blocks:append(text)
  local block = self.list[#self.list]
  local lines = vim.split(text, "\n", { plain = true })
  local row = self.total - 1
  local col = #vim.api.nvim_buf_get_lines(self.buf, row, row + 1, false)[1]
  vim.bo[self.buf].modifiable = true
  vim.api.nvim_buf_set_text(self.buf, row, col, row, col, lines)
  vim.bo[self.buf].modifiable = false
  block.height = block.height + #lines - 1
  self.total = self.total + #lines - 1
end

--- True when the last line is empty.
---@return boolean
function Blocks:ends_blank()
  return vim.api.nvim_buf_get_lines(self.buf, -2, -1, false)[1] == ""
end

--- The last block.
---@return toolgate.Block?
function Blocks:last()
  return self.list[#self.list]
end

--- The block that a row belongs to, and its first row.
---@param row integer Counted from 0.
---@return toolgate.Block? block
---@return integer first
function Blocks:at(row)
  local first = self.total
  for index = #self.list, 1, -1 do
    first = first - self.list[index].height
    if row >= first then
      return self.list[index], first
    end
  end
  return nil, 0
end

--- Forgets everything and empties the buffer.
function Blocks:clear()
  self.list, self.total = {}, 0
  vim.api.nvim_buf_clear_namespace(self.buf, namespace, 0, -1)
  self:write(0, -1, {})
end

return M
