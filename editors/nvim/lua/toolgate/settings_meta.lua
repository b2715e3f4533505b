---@meta
-- Generated from config.lua by tests/nvim/generate.lua.
-- luacheck: no max line length

---The settings in force.
---@class toolgate.Config
---@field cmd string|string[]|function|nil The sidecar. A path is run as `PATH lsp --stdio`, a list as it stands. Without it the binary beside the plugin is taken, then the one in $PATH.
---@field env table<string, string> Environment variables for the sidecar, in addition to the editor's.
---@field root_markers string[] The nearest folder above the file that holds one of these is the workspace; without one, the working directory.
---@field settings table Settings for the sidecar, nested by dots as in its reference.
---@field panel toolgate.Config.panel Settings of this group.
---@field permission toolgate.Config.permission Settings of this group.
---@field review toolgate.Config.review Settings of this group.
---@field icons table<string, string> The sign of each kind of call.
---@field restart toolgate.Config.restart Settings of this group.

---The settings in force.
---@class toolgate.Config.panel
---@field side "left"|"right" Where the panel opens.
---@field width integer Width of the panel in columns; it never takes more than half of the screen.
---@field input_height integer Height of the prompt's window in lines.
---@field live_lines integer How many of the newest lines of output a running call shows.
---@field card_lines integer How many lines of its result a settled call shows; the whole is one key away.

---The settings in force.
---@class toolgate.Config.permission
---@field ui "float"|"select" How the person is asked: a float that does not take the focus, or `vim.ui.select`.
---@field guard_ms integer Keys typed within this time after a question appeared do nothing, so that what was being typed answers nothing.
---@field scripts string[] Scripts whose letters a question shows as they are: latin, greek, cyrillic, hebrew, arabic, devanagari, thai, kana, han, hangul. Everything else appears as U+XXXX.
---@field keys table<string, string> Keys in the question's float and in the panel. `message` refuses with a word to the model.

---The settings in force.
---@class toolgate.Config.review
---@field keys table<string, string> Keys that exist in a file only while changes are proposed in it: accept, reject, acceptall, rejectall, next, prev. None by default.

---The settings in force.
---@class toolgate.Config.restart
---@field first_delay_ms integer How long to wait before a sidecar that died is started again; doubles with each try.
---@field max_attempts integer How often in a row a sidecar is started again. After that `:Toolgate open` tries once more.

---What may be given to `setup`.
---@class toolgate.Settings
---@field cmd? string|string[]|function|nil The sidecar. A path is run as `PATH lsp --stdio`, a list as it stands. Without it the binary beside the plugin is taken, then the one in $PATH.
---@field env? table<string, string> Environment variables for the sidecar, in addition to the editor's.
---@field root_markers? string[] The nearest folder above the file that holds one of these is the workspace; without one, the working directory.
---@field settings? table Settings for the sidecar, nested by dots as in its reference.
---@field panel? toolgate.Settings.panel Settings of this group.
---@field permission? toolgate.Settings.permission Settings of this group.
---@field review? toolgate.Settings.review Settings of this group.
---@field icons? table<string, string> The sign of each kind of call.
---@field restart? toolgate.Settings.restart Settings of this group.

---What may be given to `setup`.
---@class toolgate.Settings.panel
---@field side? "left"|"right" Where the panel opens.
---@field width? integer Width of the panel in columns; it never takes more than half of the screen.
---@field input_height? integer Height of the prompt's window in lines.
---@field live_lines? integer How many of the newest lines of output a running call shows.
---@field card_lines? integer How many lines of its result a settled call shows; the whole is one key away.

---What may be given to `setup`.
---@class toolgate.Settings.permission
---@field ui? "float"|"select" How the person is asked: a float that does not take the focus, or `vim.ui.select`.
---@field guard_ms? integer Keys typed within this time after a question appeared do nothing, so that what was being typed answers nothing.
---@field scripts? string[] Scripts whose letters a question shows as they are: latin, greek, cyrillic, hebrew, arabic, devanagari, thai, kana, han, hangul. Everything else appears as U+XXXX.
---@field keys? table<string, string> Keys in the question's float and in the panel. `message` refuses with a word to the model.

---What may be given to `setup`.
---@class toolgate.Settings.review
---@field keys? table<string, string> Keys that exist in a file only while changes are proposed in it: accept, reject, acceptall, rejectall, next, prev. None by default.

---What may be given to `setup`.
---@class toolgate.Settings.restart
---@field first_delay_ms? integer How long to wait before a sidecar that died is started again; doubles with each try.
---@field max_attempts? integer How often in a row a sidecar is started again. After that `:Toolgate open` tries once more.
