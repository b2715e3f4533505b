--- Finds the sidecar: the setting, the binary beside the plugin, then `$PATH`.
---
--- Must never: run anything, or guess when the setting names a file that is not there.

local M = {}

---@class toolgate.Found
---@field cmd? string[]|function What to start.
---@field from string Where it was found, for the person.
---@field problem? string Why nothing can be started.

local ARGUMENTS = { "lsp", "--stdio" }

---@param path string
---@param from string
---@return toolgate.Found
local function of_path(path, from)
  local full = vim.fn.exepath(vim.fs.normalize(path))
  if full == "" then
    return { from = from, problem = ("%s names %s, which is not an executable file"):format(from, path) }
  end
  return { cmd = vim.list_extend({ full }, ARGUMENTS), from = from }
end

--- The folder of this plugin.
---@return string
local function plugin_folder()
  local source = debug.getinfo(1, "S").source:sub(2)
  return vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.fn.fnamemodify(source, ":p"))))
end

--- Looks for the sidecar.
---@param config toolgate.Config
---@return toolgate.Found
function M.find(config)
  local cmd = config.cmd
  if type(cmd) == "function" then
    return { cmd = cmd, from = "the setting cmd" }
  elseif type(cmd) == "string" then
    return of_path(cmd, "the setting cmd")
  elseif type(cmd) == "table" then
    if vim.fn.executable(cmd[1]) ~= 1 then
      return { from = "the setting cmd", problem = "the setting cmd names " .. cmd[1] .. ", which cannot be run" }
    end
    return { cmd = cmd, from = "the setting cmd" }
  end
  local name = vim.fn.has("win32") == 1 and "toolgate.exe" or "toolgate"
  local bundled = vim.fs.joinpath(plugin_folder(), "bin", name)
  if vim.fn.executable(bundled) == 1 then
    return { cmd = vim.list_extend({ bundled }, ARGUMENTS), from = "the plugin's folder bin" }
  end
  local found = vim.fn.exepath(name)
  if found ~= "" then
    return { cmd = vim.list_extend({ found }, ARGUMENTS), from = "$PATH" }
  end
  return {
    from = "nowhere",
    problem = ("no `%s` in %s nor in $PATH; install it or name it with `vim.g.toolgate = { cmd = PATH }`"):format(
      name,
      vim.fs.dirname(bundled)
    ),
  }
end

return M
