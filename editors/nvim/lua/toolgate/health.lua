--- `:checkhealth toolgate`.
---
--- Must never: start a sidecar; it tells what is found and what is running.

local M = {}

---@param health table
local function check_binary(health)
  local binary = require("toolgate.binary")
  local found = binary.find(require("toolgate.config").get())
  if found.problem then
    health.error(found.problem)
    return
  end
  health.ok("the sidecar comes from " .. found.from)
  if type(found.cmd) ~= "table" then
    return
  end
  health.info("command: " .. table.concat(found.cmd --[[@as string[] ]], " "))
  local ran = vim.system({ found.cmd[1], "--version" }, { text = true, timeout = 5000 }):wait()
  if ran.code == 0 then
    health.ok("version: " .. vim.trim(ran.stdout or ""))
  else
    health.error(("`%s --version` ended with %d: %s"):format(found.cmd[1], ran.code, vim.trim(ran.stderr or "")))
  end
end

---@param health table
local function check_running(health)
  local desks = require("toolgate.desk").all()
  if not next(desks) then
    health.info("no sidecar was asked for; :Toolgate open starts one")
    return
  end
  for root, desk in pairs(desks) do
    local client = desk.client
    local line = ("%s: %s"):format(root, desk:status())
    if client.state == "ready" then
      health.ok(("%s (sidecar %s, protocol %d)"):format(line, client.hello.version, client.hello.protocol))
    elseif client.state == "failed" then
      health.error(line)
    else
      health.warn(line)
    end
  end
end

--- Runs the check.
function M.check()
  local health = vim.health
  health.start("toolgate: editor")
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim 0.10 or newer is needed")
  end
  if pcall(vim.treesitter.language.inspect, "markdown") then
    health.ok("a Markdown parser is there: answers are coloured")
  else
    health.warn("no Markdown parser: answers are plain text")
  end
  local problems = require("toolgate.config").problems()
  for _, problem in ipairs(problems) do
    health.warn(problem)
  end
  if #problems == 0 then
    health.ok("the settings are right")
  end
  health.start("toolgate: sidecar")
  check_binary(health)
  check_running(health)
end

return M
