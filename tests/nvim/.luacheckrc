-- Settings of the Lua linter for the plugin and its tests.
std = "luajit"
globals = { "vim" }
read_globals = { "arg" }
max_line_length = 120
-- Texts are not broken for the linter.
max_string_line_length = false
max_comment_line_length = false
-- Methods that use no field still are methods of a table of handlers.
ignore = { "212/self" }
files["**/config.lua"] = { max_line_length = false }
