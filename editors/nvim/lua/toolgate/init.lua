--- The public face of the plugin: `setup` and `statusline`.
---
--- Must never: do work when it is loaded. Nothing starts before a command is given.

local M = {}

--- Takes settings; not needed. `vim.g.toolgate` is the same as a table.
---@param settings? toolgate.Settings
function M.setup(settings)
  require("toolgate.config").set(settings)
end

--- A short text for a status line; empty while no sidecar was asked for.
---@return string
function M.statusline()
  local desk = package.loaded["toolgate.desk"]
  local last = desk and desk.last()
  return last and ("toolgate: " .. last:status()) or ""
end

return M
