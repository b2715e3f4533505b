--- Settings: one typed table that makes the defaults, the validation and the help.
---
--- For: every other module asks `config.get()`; the help page and the annotations of
--- `settings_meta.lua` are written from `M.table` by `tests/nvim/generate.lua`.
--- Must never: start anything, touch a buffer, or stop the editor because of a wrong value; a
--- wrong value is told and the default is used for that key.

local M = {}

---@class toolgate.Setting
---@field key string Dots nest.
---@field type string As LuaCATS writes it.
---@field default any
---@field valid fun(value: any): boolean
---@field expected string For the message about a wrong value.
---@field help string

local function is(kind)
  return function(value)
    return type(value) == kind
  end
end

local function at_least(least)
  return function(value)
    return type(value) == "number" and value >= least and value == math.floor(value)
  end
end

local function one_of(...)
  local allowed = { ... }
  return function(value)
    return vim.tbl_contains(allowed, value)
  end
end

local function map_of(kind)
  return function(value)
    if type(value) ~= "table" then
      return false
    end
    for key, entry in pairs(value) do
      if type(key) ~= "string" or type(entry) ~= kind then
        return false
      end
    end
    return true
  end
end

local function list_of_strings(value)
  return type(value) == "table" and vim.islist(value) and #vim.tbl_filter(is("string"), value) == #value
end

local function command(value)
  if type(value) == "string" or type(value) == "function" then
    return true
  end
  return list_of_strings(value) and #value > 0
end

---@type toolgate.Setting[]
M.table = {
  {
    key = "cmd",
    type = "string|string[]|function|nil",
    default = nil,
    valid = command,
    expected = "a path, a command as a list, or a function as `vim.lsp` takes it",
    help = "The sidecar. A path is run as `PATH lsp --stdio`, a list as it stands. Without it the binary beside the plugin is taken, then the one in $PATH.",
  },
  {
    key = "env",
    type = "table<string, string>",
    default = {},
    valid = map_of("string"),
    expected = "a table of strings",
    help = "Environment variables for the sidecar, in addition to the editor's.",
  },
  {
    key = "root_markers",
    type = "string[]",
    default = { ".git", "toolgate.toml" },
    valid = list_of_strings,
    expected = "a list of names",
    help = "The nearest folder above the file that holds one of these is the workspace; without one, the working directory.",
  },
  {
    key = "settings",
    type = "table",
    default = {},
    valid = is("table"),
    expected = "a table",
    help = "Settings for the sidecar, nested by dots as in its reference.",
  },
  {
    key = "panel.side",
    type = '"left"|"right"',
    default = "right",
    valid = one_of("left", "right"),
    expected = '"left" or "right"',
    help = "Where the panel opens.",
  },
  {
    key = "panel.width",
    type = "integer",
    default = 60,
    valid = at_least(20),
    expected = "a whole number from 20",
    help = "Width of the panel in columns; it never takes more than half of the screen.",
  },
  {
    key = "panel.input_height",
    type = "integer",
    default = 5,
    valid = at_least(1),
    expected = "a whole number from 1",
    help = "Height of the prompt's window in lines.",
  },
  {
    key = "panel.live_lines",
    type = "integer",
    default = 5,
    valid = at_least(1),
    expected = "a whole number from 1",
    help = "How many of the newest lines of output a running call shows.",
  },
  {
    key = "panel.card_lines",
    type = "integer",
    default = 20,
    valid = at_least(1),
    expected = "a whole number from 1",
    help = "How many lines of its result a settled call shows; the whole is one key away.",
  },
  {
    key = "permission.ui",
    type = '"float"|"select"',
    default = "float",
    valid = one_of("float", "select"),
    expected = '"float" or "select"',
    help = "How the person is asked: a float that does not take the focus, or `vim.ui.select`.",
  },
  {
    key = "permission.guard_ms",
    type = "integer",
    default = 500,
    valid = at_least(500),
    expected = "a whole number from 500",
    help = "Keys typed within this time after a question appeared do nothing, so that what was being typed answers nothing.",
  },
  {
    key = "permission.scripts",
    type = "string[]",
    default = { "latin" },
    valid = list_of_strings,
    expected = "a list of names",
    help = "Scripts whose letters a question shows as they are: latin, greek, cyrillic, hebrew, arabic, devanagari, thai, kana, han, hangul. Everything else appears as U+XXXX.",
  },
  {
    key = "permission.keys",
    type = "table<string, string>",
    default = {
      allow_once = "a",
      allow_session = "s",
      allow_always = "A",
      reject_once = "d",
      reject_always = "D",
      reject_and_stop = "x",
      message = "m",
    },
    valid = map_of("string"),
    expected = "a table of keys",
    help = "Keys in the question's float and in the panel. `message` refuses with a word to the model.",
  },
  {
    key = "review.keys",
    type = "table<string, string>",
    default = {},
    valid = map_of("string"),
    expected = "a table of keys",
    help = "Keys that exist in a file only while changes are proposed in it: accept, reject, acceptall, rejectall, next, prev. None by default.",
  },
  {
    key = "icons",
    type = "table<string, string>",
    default = {
      read = "≡",
      edit = "±",
      delete = "✗",
      search = "?",
      execute = "$",
      think = "*",
      fetch = "↓",
      other = "•",
    },
    valid = map_of("string"),
    expected = "a table of strings",
    help = "The sign of each kind of call.",
  },
  {
    key = "restart.first_delay_ms",
    type = "integer",
    default = 500,
    valid = at_least(1),
    expected = "a whole number from 1",
    help = "How long to wait before a sidecar that died is started again; doubles with each try.",
  },
  {
    key = "restart.max_attempts",
    type = "integer",
    default = 5,
    valid = at_least(0),
    expected = "a whole number from 0",
    help = "How often in a row a sidecar is started again. After that `:Toolgate open` tries once more.",
  },
}

---@param problems string[]
---@param given table
---@param known table<string, toolgate.Setting>
---@param prefix string
---@param into table<string, any>
local function collect(problems, given, known, prefix, into)
  for name, value in pairs(given) do
    local key = prefix .. tostring(name)
    local setting = known[key]
    if setting then
      if setting.valid(value) then
        into[key] = value
      else
        problems[#problems + 1] = ("setting %s: expected %s"):format(key, setting.expected)
      end
    elseif type(value) == "table" and M.is_group(key) then
      collect(problems, value, known, key .. ".", into)
    else
      problems[#problems + 1] = ("setting %s: there is none of this name"):format(key)
    end
  end
end

--- True when settings stand below this name.
---@param name string
---@return boolean
function M.is_group(name)
  for _, setting in ipairs(M.table) do
    if vim.startswith(setting.key, name .. ".") then
      return true
    end
  end
  return false
end

--- Lays what a person gave over the defaults.
---@param ... table Later ones win.
---@return toolgate.Config config
---@return string[] problems One line for each value that was not taken.
function M.build(...)
  local known, values, problems = {}, {}, {}
  for _, setting in ipairs(M.table) do
    known[setting.key] = setting
  end
  for _, given in ipairs({ ... }) do
    collect(problems, given, known, "", values)
  end
  local config = {}
  for _, setting in ipairs(M.table) do
    local value = values[setting.key]
    if value == nil then
      value = vim.deepcopy(setting.default)
    elseif type(value) == "table" and type(setting.default) == "table" and not vim.islist(setting.default) then
      -- One key of a table of keys may be given alone; the others keep their defaults.
      value = vim.tbl_extend("force", vim.deepcopy(setting.default), value)
    end
    local place = config
    local parts = vim.split(setting.key, ".", { plain = true })
    for index = 1, #parts - 1 do
      place[parts[index]] = place[parts[index]] or {}
      place = place[parts[index]]
    end
    place[parts[#parts]] = value
  end
  return config, problems
end

local current ---@type toolgate.Config?
local last_problems = {} ---@type string[]

--- Takes the settings of `setup`; told problems are shown once.
---@param given? table
function M.set(given)
  local global = type(vim.g.toolgate) == "table" and vim.g.toolgate or {}
  current, last_problems = M.build(global, given or {})
  for _, problem in ipairs(last_problems) do
    vim.notify("toolgate: " .. problem, vim.log.levels.WARN)
  end
end

--- The settings in force.
---@return toolgate.Config
function M.get()
  if not current then
    M.set()
  end
  return current --[[@as toolgate.Config]]
end

--- What was wrong with the settings, for the health check.
---@return string[]
function M.problems()
  M.get()
  return last_problems
end

return M
