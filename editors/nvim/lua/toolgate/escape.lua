--- Makes hostile text visible: what a model, a file or a tool wrote may try to look like
--- something else.
---
--- For: `panel` before text enters the panel, `strict` before text enters a question.
--- Must never: drop a character; what is not shown as it is, is shown as `U+XXXX`.

local M = {}

-- Control, format, invisible and direction-changing characters.
local HIDDEN = {
  { 0x00, 0x08 },
  { 0x0b, 0x1f },
  { 0x7f, 0x9f },
  { 0xad, 0xad },
  { 0x34f, 0x34f },
  { 0x61c, 0x61c },
  { 0x115f, 0x1160 },
  { 0x17b4, 0x17b5 },
  { 0x180b, 0x180f },
  { 0x200b, 0x200f },
  { 0x2028, 0x202e },
  { 0x2060, 0x206f },
  { 0x3164, 0x3164 },
  { 0xfe00, 0xfe0f },
  { 0xfeff, 0xfeff },
  { 0xffa0, 0xffa0 },
  { 0xfff0, 0xfffb },
  { 0x1d173, 0x1d17a },
  { 0xe0000, 0xe0fff },
}

-- Letters only: signs, spaces and look-alike punctuation of these blocks are left out.
local SCRIPTS = {
  latin = { { 0xaa, 0xaa }, { 0xba, 0xba }, { 0xc0, 0xd6 }, { 0xd8, 0xf6 }, { 0xf8, 0x24f }, { 0x1e00, 0x1eff } },
  greek = {
    { 0x370, 0x373 },
    { 0x376, 0x377 },
    { 0x37b, 0x37d },
    { 0x386, 0x386 },
    { 0x388, 0x3ff },
    { 0x1f00, 0x1fbc },
  },
  cyrillic = { { 0x400, 0x481 }, { 0x48a, 0x52f } },
  hebrew = { { 0x5d0, 0x5ea } },
  arabic = { { 0x620, 0x63f }, { 0x641, 0x64a }, { 0x671, 0x6d3 } },
  devanagari = { { 0x904, 0x939 }, { 0x93e, 0x94d }, { 0x958, 0x961 } },
  thai = { { 0xe01, 0xe30 }, { 0xe32, 0xe33 }, { 0xe40, 0xe46 } },
  kana = { { 0x3041, 0x3096 }, { 0x30a1, 0x30fa }, { 0x30fc, 0x30fc } },
  han = { { 0x3400, 0x4dbf }, { 0x4e00, 0x9fff }, { 0xf900, 0xfaff }, { 0x20000, 0x2fa1f } },
  hangul = { { 0xac00, 0xd7a3 } },
}

--- The names that the setting `permission.scripts` may hold.
---@return string[]
function M.scripts()
  local names = vim.tbl_keys(SCRIPTS)
  table.sort(names)
  return names
end

---@param ranges integer[][]
---@param code integer
---@return boolean
local function within(ranges, code)
  for _, range in ipairs(ranges) do
    if code >= range[1] and code <= range[2] then
      return true
    end
  end
  return false
end

---@param code integer
---@return string
local function named(code)
  return ("<U+%04X>"):format(code)
end

-- One character outside printable ASCII: a control byte, a whole UTF-8 sequence, or a stray byte.
local CHARACTER = "[%z\1-\31\127-\255][\128-\191]*"

---@param bytes string
---@return integer? code nil when the bytes are not one whole character
local function code_of(bytes)
  local lead, count = bytes:byte(1), #bytes
  if count == 1 then
    return lead < 0x80 and lead or nil
  end
  local first ---@type integer
  if count == 2 and lead >= 0xc2 and lead <= 0xdf then
    first = lead - 0xc0
  elseif count == 3 and lead >= 0xe0 and lead <= 0xef then
    first = lead - 0xe0
  elseif count == 4 and lead >= 0xf0 and lead <= 0xf4 then
    first = lead - 0xf0
  else
    return nil
  end
  for index = 2, count do
    first = first * 64 + bytes:byte(index) - 0x80
  end
  return first
end

---@param bytes string
---@return string
local function every_byte(bytes)
  return (bytes:gsub(".", function(byte)
    return ("<%02X>"):format(byte:byte())
  end))
end

local panel_seen = {} ---@type table<string, string|false>
local panel_seen_count = 0

---@param bytes string
---@return string|false
local function panel_one(bytes)
  local known = panel_seen[bytes]
  if known ~= nil then
    return known
  end
  local code = code_of(bytes)
  local shown = false ---@type string|false
  if not code then
    shown = every_byte(bytes)
  elseif within(HIDDEN, code) then
    shown = named(code)
  end
  -- Bounded, because a stream could hold every character there is.
  if panel_seen_count < 4096 then
    panel_seen[bytes] = shown
    panel_seen_count = panel_seen_count + 1
  end
  return shown
end

--- For the panel: everything readable stays, what is invisible or moves text is named.
---@param text string May hold newlines and tabs; they stay.
---@return string
function M.panel(text)
  if not text:find("[%z\1-\8\11-\31\127-\255]") then
    return text
  end
  return (text:gsub("([%z\1-\8\11-\31\127-\255][\128-\191]*)", panel_one))
end

---@param code integer
---@param scripts string[]
---@return string? script
local function script_of(code, scripts)
  for _, name in ipairs(scripts) do
    if SCRIPTS[name] and within(SCRIPTS[name], code) then
      return name
    end
  end
  return nil
end

---@param word string
---@param scripts string[]
---@return string
local function strict_word(word, scripts)
  local seen, count = {}, 0
  local function mark(name)
    if not seen[name] then
      seen[name], count = true, count + 1
    end
  end
  if word:find("%a") then
    mark("latin")
  end
  local shown = word:gsub(CHARACTER, function(bytes)
    local code = code_of(bytes)
    if not code then
      return every_byte(bytes)
    end
    local script = script_of(code, scripts)
    if not script then
      return named(code)
    end
    mark(script)
    return bytes
  end)
  return count > 1 and shown .. "<mixed scripts>" or shown
end

---@param line string
---@param scripts string[]
---@return string
local function strict_line(line, scripts)
  line = line:gsub("\t", "<tab>")
  local shown = line:gsub("[^ ]+", function(word)
    return strict_word(word, scripts)
  end)
  -- A long run of blanks pushes what follows out of sight.
  shown = shown:gsub(" +", function(run)
    return #run > 8 and ("<%d blanks>"):format(#run) or run
  end)
  return shown
end

--- For a question: printable ASCII and letters of the person's scripts stay, all else is named;
--- runs of blanks and of blank lines are counted.
---@param text string
---@param scripts string[]
---@return string[] lines
function M.strict(text, scripts)
  local lines, blank = {}, 0
  local function flush()
    if blank > 1 then
      lines[#lines + 1] = ("<%d blank lines>"):format(blank)
    elseif blank == 1 then
      lines[#lines + 1] = ""
    end
    blank = 0
  end
  for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
    if line:find("^%s*$") and not line:find("[%z\1-\8\11-\31]") then
      blank = blank + 1
    else
      flush()
      lines[#lines + 1] = strict_line(line, scripts)
    end
  end
  flush()
  return lines
end

return M
