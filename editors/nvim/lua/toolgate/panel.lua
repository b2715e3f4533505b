--- The panel: a window with the session's buffer, and the prompt's window beneath it.
---
--- For: buffers, windows and the keys inside them. One panel a workspace.
--- Must never: map a key outside its own buffers, or be the only way to a command.

local config = require("toolgate.config")

local M = {}

---@class toolgate.PanelActions What the keys do.
---@field send fun(text: string): boolean True when the text was taken.
---@field stop fun()
---@field output fun(call: toolgate.Call)
---@field answer fun(action: string)
---@field status fun(): string For the window's bar.

---@class toolgate.Panel
---@field buf integer The session's buffer.
---@field input integer The prompt's buffer.
---@field transcript toolgate.Transcript
---@field private actions toolgate.PanelActions
local Panel = {}
Panel.__index = Panel

---@param name string
---@param filetype string
---@return integer
local function scratch(name, filetype)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].swapfile = false
  -- Two workspaces may have one name; a number keeps the buffers apart.
  if not pcall(vim.api.nvim_buf_set_name, buf, name) then
    vim.api.nvim_buf_set_name(buf, name .. "#" .. buf)
  end
  vim.bo[buf].filetype = filetype
  return buf
end

---@param root string
---@param actions toolgate.PanelActions
---@return toolgate.Panel
function M.new(root, actions)
  local name = "toolgate://" .. vim.fs.basename(root)
  local self = setmetatable({ actions = actions }, Panel)
  self.buf = scratch(name .. "/panel", "toolgate")
  self.input = scratch(name .. "/prompt", "toolgate-prompt")
  vim.bo[self.buf].modifiable = false
  vim.bo[self.buf].undolevels = -1
  -- Without the parser the panel is plain text, which reads as well.
  pcall(vim.treesitter.start, self.buf, "markdown")
  self.transcript = require("toolgate.transcript").new(self.buf)
  self:map_keys()
  return self
end

---@private
function Panel:map_keys()
  local function map(buf, mode, key, about, run)
    vim.keymap.set(mode, key, run, { buffer = buf, desc = "Toolgate: " .. about, nowait = true })
  end
  map(self.buf, "n", "<CR>", "open or close the card", "za")
  map(self.buf, "n", "o", "whole output of the call", function()
    local call = self.transcript:call_at(vim.api.nvim_win_get_cursor(0)[1] - 1)
    if call then
      self.actions.output(call)
    end
  end)
  map(self.buf, "n", "]]", "next call", function()
    self:to_card(1)
  end)
  map(self.buf, "n", "[[", "previous call", function()
    self:to_card(-1)
  end)
  map(self.buf, "n", "i", "to the prompt", function()
    self:focus_input()
  end)
  map(self.buf, "n", "q", "close the panel", function()
    self:close()
  end)
  map(self.buf, "n", "<C-c>", "stop", self.actions.stop)
  for action, key in pairs(config.get().permission.keys) do
    map(self.buf, "n", key, "answer: " .. action, function()
      self.actions.answer(action)
    end)
  end
  local function send()
    self:send()
  end
  map(self.input, { "n", "i" }, "<C-CR>", "send", send)
  map(self.input, "n", "<CR>", "send", send)
  map(self.input, "n", "<C-c>", "stop", self.actions.stop)
end

---@private
---@param direction 1|-1
function Panel:to_card(direction)
  local here = vim.api.nvim_win_get_cursor(0)[1] - 1
  local rows = self.transcript:card_rows()
  local first, last = 1, #rows
  if direction < 0 then
    first, last = last, first
  end
  for index = first, last, direction do
    if (rows[index] - here) * direction > 0 then
      vim.api.nvim_win_set_cursor(0, { rows[index] + 1, 0 })
      return
    end
  end
end

---@param buf integer
---@return integer? win In the present tab page.
local function window_of(buf)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == buf and vim.api.nvim_win_get_config(win).relative == "" then
      return win
    end
  end
  return nil
end

--- The panel's window in this tab page.
---@return integer?
function Panel:window()
  return window_of(self.buf)
end

---@private
---@param win integer
function Panel:dress(win)
  local options = {
    number = false,
    relativenumber = false,
    signcolumn = "no",
    foldcolumn = "0",
    wrap = true,
    linebreak = true,
    list = false,
    spell = false,
    cursorline = false,
    winfixwidth = true,
    foldmethod = "manual",
    foldenable = true,
    foldtext = "v:lua.require'toolgate.panel'.foldtext()",
    fillchars = "fold: ",
    winbar = "%{%v:lua.require'toolgate.panel'.bar()%}",
  }
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = "local" })
  end
end

--- The text of a folded card; the editor calls it when it draws.
---@return string
function M.foldtext()
  local count = vim.v.foldend - vim.v.foldstart
  return ("%s (%d line%s)"):format(vim.fn.getline(vim.v.foldstart), count, count == 1 and "" or "s")
end

local shown = {} ---@type table<integer, toolgate.Panel> By buffer.

--- The text of the bar above the panel; the editor calls it when it draws.
---@return string
function M.bar()
  -- While a bar is drawn, its window is the current one.
  local panel = shown[vim.api.nvim_get_current_buf()]
  -- `%<` at the end: when it is too long, its end is cut and not its beginning.
  return panel and (panel.actions.status():gsub("%%", "%%%%") .. "%<") or ""
end

--- False once the person has wiped one of the buffers.
---@return boolean
function Panel:whole()
  return vim.api.nvim_buf_is_valid(self.buf) and vim.api.nvim_buf_is_valid(self.input)
end

--- Draws the bar again.
function Panel:refresh_bar()
  if self:window() then
    vim.cmd("redrawstatus!")
  end
end

--- Opens the panel, or goes to it.
---@param focus boolean Go to the prompt.
function Panel:open(focus)
  shown[self.buf] = self
  if not window_of(self.buf) then
    local settings = config.get().panel
    local back = vim.api.nvim_get_current_win()
    local width = math.min(settings.width, math.floor(vim.o.columns / 2))
    vim.cmd(("%s %dvsplit"):format(settings.side == "left" and "topleft" or "botright", width))
    local win = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(win, self.buf)
    self:dress(win)
    self.transcript:fold_all(win)
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(self.buf), 0 })
    vim.api.nvim_set_current_win(back)
  end
  self:open_input()
  if focus then
    self:focus_input()
  end
end

---@private
function Panel:open_input()
  if window_of(self.input) then
    return
  end
  local back = vim.api.nvim_get_current_win()
  vim.api.nvim_set_current_win(assert(window_of(self.buf))) -- `open` has just made it
  vim.cmd(("belowright %dsplit"):format(config.get().panel.input_height))
  local win = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(win, self.input)
  local options = { number = false, relativenumber = false, signcolumn = "no", wrap = true, winfixheight = true }
  options.foldenable = false
  options.winbar = "Prompt: <CR> in normal mode, <C-CR> or :Toolgate send"
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = "local" })
  end
  vim.api.nvim_set_current_win(back)
end

--- Goes to the prompt.
function Panel:focus_input()
  local win = window_of(self.input)
  if win then
    vim.api.nvim_set_current_win(win)
  else
    self:open(true)
  end
end

--- Closes both windows; the session goes on.
function Panel:close()
  for _, buf in ipairs({ self.input, self.buf }) do
    local win = window_of(buf)
    -- The last window of the editor cannot be closed.
    if win and not pcall(vim.api.nvim_win_close, win, true) then
      vim.cmd("enew")
    end
  end
end

--- Sends what stands in the prompt's buffer.
function Panel:send()
  if not self:whole() then
    return
  end
  local lines = vim.api.nvim_buf_get_lines(self.input, 0, -1, false)
  local text = vim.trim(table.concat(lines, "\n"))
  if text ~= "" and self.actions.send(text) then
    vim.api.nvim_buf_set_lines(self.input, 0, -1, false, {})
  end
end

return M
