--- Writes what is made from the plugin's tables: the settings, commands and highlight groups of
--- the help page, and the annotations of the settings. `nvim --clean -l generate.lua [--check]`.
---
--- With `--check` nothing is written and the exit code is 1 when a committed file is out of step.

local here = vim.fn.fnamemodify(arg[0], ":p:h")
local plugin = vim.fs.joinpath(vim.fs.dirname(vim.fs.dirname(here)), "editors", "nvim")
vim.opt.runtimepath:prepend(plugin)

local config = require("toolgate.config")

---@param text string
---@param indent string
---@return string[]
local function wrap(text, indent)
  local lines, line = {}, indent
  for word in text:gmatch("%S+") do
    if #line + #word + 1 > 78 and line ~= indent then
      lines[#lines + 1] = line
      line = indent
    end
    line = line .. (line == indent and "" or " ") .. word
  end
  lines[#lines + 1] = line
  return lines
end

---@param left string
---@param tag string
---@return string
local function heading(left, tag)
  return left .. (" "):rep(math.max(1, 78 - #left - #tag - 2)) .. "*" .. tag .. "*"
end

---@param value any
---@return string
local function literal(value)
  if value == nil then
    return "nil"
  end
  return (vim.inspect(value):gsub("%s*\n%s*", " "))
end

local function settings_help()
  local out = {}
  for _, setting in ipairs(config.table) do
    out[#out + 1] = heading(setting.key, "toolgate-setting-" .. setting.key)
    vim.list_extend(out, wrap("Type: `" .. setting.type .. "`", "    "))
    vim.list_extend(out, wrap("Default: `" .. literal(setting.default) .. "`", "    "))
    vim.list_extend(out, wrap(setting.help, "    "))
    out[#out + 1] = ""
  end
  return out
end

local function commands_help()
  local out = {}
  local commands = require("toolgate.commands")
  for _, name in ipairs(commands.names()) do
    out[#out + 1] = heading(":Toolgate " .. name, ":Toolgate-" .. name)
    vim.list_extend(out, wrap(commands.table[name].about, "    "))
    out[#out + 1] = ""
  end
  return out
end

local function groups_help()
  local out = {}
  for _, group in ipairs(require("toolgate.highlight").groups) do
    out[#out + 1] = heading(group[1], "hl-" .. group[1])
    vim.list_extend(out, wrap(("%s; links to %s."):format(group[3], group[2]), "    "))
  end
  out[#out + 1] = ""
  return out
end

--- Puts lines between the two marks of a section.
local function put(lines, name, content)
  local first, last
  for index, line in ipairs(lines) do
    if line == "    (generated: " .. name .. ")" then
      first = first or index
    elseif line == "    (end: " .. name .. ")" then
      last = index
    end
  end
  assert(first and last, "the help page has no section " .. name)
  local out = vim.list_slice(lines, 1, first)
  out[#out + 1] = ""
  vim.list_extend(out, content)
  return vim.list_extend(out, vim.list_slice(lines, last))
end

local function help()
  local lines = vim.fn.readfile(vim.fs.joinpath(plugin, "doc", "toolgate.txt"))
  lines = put(lines, "settings", settings_help())
  lines = put(lines, "commands", commands_help())
  return put(lines, "groups", groups_help())
end

---@param parts string[]
---@return string
local function class_name(parts)
  return "toolgate.Config" .. (#parts > 0 and "." .. table.concat(parts, ".") or "")
end

local function annotations()
  local classes, order = {}, {}
  local function class(parts)
    local name = class_name(parts)
    if not classes[name] then
      classes[name] = {}
      order[#order + 1] = name
    end
    return classes[name]
  end
  class({})
  for _, setting in ipairs(config.table) do
    local parts = vim.split(setting.key, ".", { plain = true })
    local last = table.remove(parts)
    local fields = class(parts)
    if #parts > 0 and #fields == 0 then
      local whole = class({})
      whole[#whole + 1] = { parts[1], class_name(parts), "Settings of this group." }
    end
    fields[#fields + 1] = { last, setting.type, setting.help }
  end
  local out = {
    "---@meta",
    "-- Generated from config.lua by tests/nvim/generate.lua.",
    "-- luacheck: no max line length",
  }
  for _, optional in ipairs({ false, true }) do
    for _, name in ipairs(order) do
      out[#out + 1] = ""
      out[#out + 1] = "---" .. (optional and "What may be given to `setup`." or "The settings in force.")
      local shown = optional and name:gsub("Config", "Settings") or name
      out[#out + 1] = "---@class " .. shown
      for _, field in ipairs(classes[name]) do
        local kind = optional and field[2]:gsub("Config", "Settings") or field[2]
        out[#out + 1] = ("---@field %s%s %s %s"):format(field[1], optional and "?" or "", kind, field[3])
      end
    end
  end
  return out
end

local stale = 0
for name, lines in pairs({
  ["doc/toolgate.txt"] = help(),
  ["lua/toolgate/settings_meta.lua"] = annotations(),
}) do
  local path = vim.fs.joinpath(plugin, name)
  if arg[1] ~= "--check" then
    vim.fn.writefile(lines, path)
  elseif vim.fn.filereadable(path) == 0 or not vim.deep_equal(vim.fn.readfile(path), lines) then
    stale = stale + 1
    io.stdout:write("FAIL " .. name .. " is out of step; run tests/nvim/generate.lua\n")
  end
end
os.exit(stale == 0 and 0 or 1)
