--- Defines `:Toolgate` and the `<Plug>` maps. Everything else is loaded when it is used.

if vim.g.loaded_toolgate then
  return
end
vim.g.loaded_toolgate = true

if vim.fn.has("nvim-0.10") == 0 then
  vim.api.nvim_echo({ { "toolgate: Neovim 0.10 or newer is needed", "ErrorMsg" } }, true, {})
  return
end

vim.api.nvim_create_user_command("Toolgate", function(call)
  require("toolgate.commands").run(call)
end, {
  nargs = "*",
  range = true,
  desc = "Toolgate: a coding model at work in this editor",
  complete = function(lead, line)
    return require("toolgate.commands").complete(lead, line)
  end,
})

for _, name in ipairs({
  "open",
  "send",
  "stop",
  "accept",
  "reject",
  "acceptall",
  "rejectall",
  "next",
  "prev",
  "allow",
  "deny",
  "permission",
  "diff",
  "changes",
  "mode",
}) do
  vim.keymap.set("n", "<Plug>(toolgate-" .. name .. ")", "<Cmd>Toolgate " .. name .. "<CR>", {
    desc = "Toolgate: " .. name,
  })
end
