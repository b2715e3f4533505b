--- Turns a renderer payload into lines of text.
---
--- For: cards, the full output and questions; a payload of an unknown kind is shown as JSON,
--- never dropped.
--- Must never: touch a buffer, or let unescaped text through.

local escape = require("toolgate.escape")

local M = {}

---@class toolgate.Line
---@field text string Without line ending.
---@field group? string Highlight of the whole line.

---@param text string
---@return string[]
local function split(text)
  local lines = vim.split(escape.panel(text), "\n", { plain = true })
  if #lines > 1 and lines[#lines] == "" then
    lines[#lines] = nil
  end
  return lines
end

---@param out toolgate.Line[]
---@param text string
---@param group? string
local function add(out, text, group)
  for _, line in ipairs(split(text)) do
    out[#out + 1] = { text = line, group = group }
  end
end

--- A hunk's place as a diff writes it.
---@param hunk toolgate.Hunk
---@return string
function M.hunk_heading(hunk)
  return ("@@ -%d,%d +%d,%d @@ %s"):format(
    hunk.oldStart + 1,
    #hunk.oldLines,
    hunk.newStart + 1,
    #hunk.newLines,
    hunk.state
  )
end

---@param out toolgate.Line[]
---@param diff toolgate.Diff
local function add_diff(out, diff)
  add(out, (diff.creates and "new file " or "") .. diff.path)
  for _, hunk in ipairs(diff.hunks) do
    out[#out + 1] = { text = M.hunk_heading(hunk), group = "ToolgateHunk" }
    for _, line in ipairs(hunk.oldLines) do
      out[#out + 1] = { text = "-" .. escape.panel(line):gsub("\n", " "), group = "ToolgateRemoved" }
    end
    for _, line in ipairs(hunk.newLines) do
      out[#out + 1] = { text = "+" .. escape.panel(line):gsub("\n", " "), group = "ToolgateAdded" }
    end
  end
end

-- Colours are not drawn in the panel; their escape sequences would only be noise.
local function without_colours(text)
  return (text:gsub("\27%[[%d;:]*m", ""))
end

local PLAN_SIGN = { pending = "[ ]", in_progress = "[~]", completed = "[x]" }

local KINDS = {
  text = function(out, payload)
    add(out, payload.text, "ToolgateOutput")
  end,
  fallback = function(out, payload)
    add(out, payload.text, "ToolgateOutput")
  end,
  markdown = function(out, payload)
    add(out, payload.text)
  end,
  diff = add_diff,
  terminal = function(out, payload)
    add(out, "$ " .. payload.command)
    if payload.output ~= "" then
      add(out, without_colours(payload.output), "ToolgateOutput")
    end
    if payload.truncated then
      add(out, "(only a part of the output)")
    end
    if type(payload.exitCode) == "number" then
      add(out, ("exit code %d"):format(payload.exitCode))
    end
  end,
  file_list = function(out, payload)
    for _, file in ipairs(payload.files) do
      add(out, file, "ToolgateOutput")
    end
    if payload.total > #payload.files then
      add(out, ("(%d in all)"):format(payload.total))
    end
  end,
  matches = function(out, payload)
    for _, match in ipairs(payload.matches) do
      add(out, ("%s:%d: %s"):format(match.path, match.line, match.text), "ToolgateOutput")
    end
    if payload.total > #payload.matches then
      add(out, ("(%d in all)"):format(payload.total))
    end
  end,
  json = function(out, payload)
    add(out, vim.json.encode(payload.value), "ToolgateOutput")
  end,
  image = function(out, payload)
    add(out, ("(image, %s)"):format(payload.media_type))
  end,
  plan = function(out, payload)
    for _, entry in ipairs(payload.entries) do
      add(out, ("%s %s"):format(PLAN_SIGN[entry.status] or "[?]", entry.content))
    end
  end,
}

--- The lines of a payload.
---@param payload toolgate.Payload
---@return toolgate.Line[]
function M.lines(payload)
  local out = {}
  local draw = KINDS[payload.kind]
  if not (draw and pcall(draw, out, payload)) then
    out = {}
    add(out, vim.json.encode(payload), "ToolgateOutput")
  end
  return out
end

--- The plain text of a payload's command, diff or input, for a question: no escapes yet.
---@param payload toolgate.Payload
---@return string
function M.plain(payload)
  if payload.kind == "terminal" then
    return payload.command
  elseif payload.kind == "diff" then
    local out = { (payload.creates and "new file " or "") .. payload.path }
    for _, hunk in ipairs(payload.hunks) do
      out[#out + 1] = M.hunk_heading(hunk)
      for _, line in ipairs(hunk.oldLines) do
        out[#out + 1] = "-" .. line
      end
      for _, line in ipairs(hunk.newLines) do
        out[#out + 1] = "+" .. line
      end
    end
    return table.concat(out, "\n")
  elseif payload.kind == "json" then
    return vim.json.encode(payload.value)
  elseif type(payload.text) == "string" then
    return payload.text
  end
  return vim.json.encode(payload)
end

return M
