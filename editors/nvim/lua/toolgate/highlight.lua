--- Highlight groups, each linked to a standard one so that every colour scheme fits.
---
--- Must never: set a colour, or carry a meaning that the text does not carry too.

local M = {}

--- Group, the standard group it links to, and what it is for (the help page lists them).
---@type { [1]: string, [2]: string, [3]: string }[]
M.groups = {
  { "ToolgateRemoved", "DiffDelete", "lines that a proposed change takes away" },
  { "ToolgateAdded", "DiffAdd", "lines that a proposed change brings" },
  { "ToolgateHunk", "DiagnosticVirtualTextInfo", "the label of a proposed change" },
  { "ToolgateConflict", "DiagnosticVirtualTextWarn", "the label of a change whose lines were edited meanwhile" },
  { "ToolgateCard", "Title", "the heading of a call" },
  { "ToolgateOutput", "Comment", "output of a call" },
  { "ToolgateNotice", "WarningMsg", "a notice in the panel" },
  { "ToolgateAskTitle", "FloatTitle", "the title of a question" },
  { "ToolgateAskKey", "Special", "a key in a question" },
  { "ToolgateAskContent", "String", "what would run" },
}

--- Defines what the person has not defined.
function M.define()
  for _, group in ipairs(M.groups) do
    vim.api.nvim_set_hl(0, group[1], { link = group[2], default = true })
  end
end

return M
