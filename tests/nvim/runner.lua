--- Runs spec files inside Neovim: `nvim --clean -l runner.lua PLUGIN SPEC…`.
---
--- A spec file returns a list of `{ name, function }`. Prints one line a case and
--- `N passed, N failed`; the exit code is 1 when a case failed.

local plugin = arg[1]
vim.opt.runtimepath:prepend(plugin)
package.path = vim.fn.fnamemodify(arg[0], ":p:h") .. "/?.lua;" .. package.path
vim.o.swapfile, vim.o.showmode, vim.o.more = false, false, false
vim.cmd("filetype plugin on | syntax on")
vim.cmd.runtime("plugin/toolgate.lua")

local function say(text)
  io.stdout:write(text .. "\n")
end

local harness = require("harness")
local passed, failed = 0, 0
local only = vim.env.TOOLGATE_SPEC

local specs = {}
for index = 2, #arg do
  -- Cases change the working directory.
  specs[#specs + 1] = { file = vim.fs.basename(arg[index]), cases = dofile(arg[index]) }
end

for _, spec in ipairs(specs) do
  local file = spec.file
  for _, case in ipairs(spec.cases) do
    local name, run = file .. ": " .. case[1], case[2]
    if not only or name:find(only, 1, true) then
      harness.before()
      local ok, problem = xpcall(run, debug.traceback)
      local cleaned, fault = pcall(harness.after)
      if ok and cleaned then
        passed = passed + 1
        say("ok   " .. name)
      else
        failed = failed + 1
        say("FAIL " .. name .. "\n" .. tostring(problem or fault))
      end
    end
  end
end

say(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and passed > 0 and 0 or 1)
