--- `:Toolgate` and its sub-commands: one table, which also makes the completion.
---
--- Must never: map a key, or do what its part of the plugin can do.

local desk = require("toolgate.desk")

local M = {}

---@class toolgate.Command
---@field about string For the help page.
---@field run fun(desk: toolgate.Desk, args: string, call: table)
---@field complete? fun(): string[]

---@param text string
local function say(text)
  vim.notify("toolgate: " .. text, vim.log.levels.INFO)
end

---@param accept boolean
---@param all boolean
local function decide(accept, all)
  ---@param at toolgate.Desk
  return function(at)
    local ask = at.asks:reviewed()
    if not ask then
      say("no change is proposed")
      return
    end
    if all then
      at.asks:decide(ask, accept)
      return
    end
    local placed = ask.review:at_cursor()
    if not placed then
      say("no proposed change stands at the cursor (:Toolgate next goes to one)")
      return
    end
    at.asks:decide(ask, accept, placed)
  end
end

---@param direction 1|-1
local function jump(direction)
  ---@param at toolgate.Desk
  return function(at)
    local ask = at.asks:reviewed()
    if not ask then
      say("no change is proposed")
      return
    end
    ask.review:jump(direction)
    -- The file may have come into view: the question then says so.
    at.asks:show()
  end
end

---@param at toolgate.Desk
local function diff(at)
  local ask = at.asks:reviewed()
  if not ask then
    say("no change is proposed")
    return
  end
  local review = ask.review --[[@as toolgate.InlineReview]]
  vim.cmd("tabnew")
  if review.diff.creates then
    vim.bo.bufhidden = "wipe"
  else
    vim.cmd.edit(vim.fn.fnameescape(review.diff.path))
  end
  vim.cmd("diffthis")
  vim.cmd("rightbelow vnew")
  local buf = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, review:proposed_lines())
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].modifiable = "nofile", "wipe", false
  vim.bo[buf].filetype = vim.filetype.match({ filename = review.diff.path }) or ""
  vim.api.nvim_buf_set_name(buf, ("toolgate://proposed/%s#%d"):format(vim.fs.basename(review.diff.path), buf))
  vim.cmd("diffthis")
end

---@param at toolgate.Desk
local function changes(at)
  local items = {}
  for _, file in ipairs(at.session.files) do
    items[#items + 1] = { filename = file, lnum = 1, text = "changed by Toolgate" }
  end
  vim.fn.setqflist({}, " ", { title = "Toolgate: changed files", items = items })
  if #items == 0 then
    say("no file was changed")
  else
    -- Beneath everything: from the panel, `copen` would split the panel.
    vim.cmd("botright copen")
  end
end

local MODES = { "default", "acceptEdits", "plan", "dontAsk", "bypassPermissions" }

---@param at toolgate.Desk
---@param args string
local function mode(at, args)
  local function set(name)
    at.session:request("toolgate/session/setMode", { mode = name }, function(problem)
      say(problem and ("the mode was not set: " .. problem) or ("mode " .. name))
    end)
  end
  if args ~= "" then
    set(args)
    return
  end
  vim.ui.select(MODES, { prompt = "Permission mode (now " .. (at.session.mode or "?") .. ")" }, function(choice)
    if choice then
      set(choice)
    end
  end)
end

---@param at toolgate.Desk
---@param args string
local function sessions(at, args)
  local params = { workspace = at.root, query = args ~= "" and args or nil }
  at.session:request("toolgate/session/list", params, function(problem, result)
    if problem then
      say("the sessions cannot be listed: " .. problem)
      return
    end
    if #result.sessions == 0 then
      say("no sessions of this folder")
      return
    end
    local escape = require("toolgate.escape")
    vim.ui.select(result.sessions, {
      prompt = "Session",
      format_item = function(one)
        return ("%s  %s"):format(one.updated, (escape.panel(one.title):gsub("\n", " ")))
      end,
    }, function(choice)
      if choice then
        at:open(false)
        at.session:switch(choice.sessionId, function(refused)
          if refused then
            say(refused)
          end
        end)
      end
    end)
  end)
end

---@param at toolgate.Desk
local function status(at)
  at.session:request("toolgate/status", {}, function(problem, result)
    if problem then
      say(problem)
      return
    end
    local lines = {
      ("sidecar %s, %s"):format(result.version, result.ready and "ready" or "not ready"),
      "provider: " .. result.provider,
      ("%d documents, %d sessions"):format(result.openDocuments, result.sessions),
    }
    vim.list_extend(lines, result.problems)
    say(table.concat(lines, "\n"))
  end)
end

---@param at toolgate.Desk
---@param args string
---@param call table
local function prompt(at, args, call)
  local content = {}
  if args ~= "" then
    content[1] = { type = "text", text = args }
  end
  if call.range > 0 then
    local lines = vim.api.nvim_buf_get_lines(0, call.line1 - 1, call.line2, false)
    content[#content + 1] = {
      type = "selection",
      uri = vim.uri_from_bufnr(0),
      startLine = call.line1 - 1,
      endLine = call.line2 - 1,
      text = table.concat(lines, "\n"),
    }
  end
  if args == "" then
    at:open(true)
    return
  end
  at:prompt(content)
end

---@type table<string, toolgate.Command>
M.table = {
  open = {
    about = "Opens the panel and goes to the prompt; starts the sidecar.",
    run = function(at)
      at:open(true)
      at.session:ensure(function() end)
    end,
  },
  prompt = { about = "Sends TEXT; with a range, the lines go with it. Without TEXT: as open.", run = prompt },
  send = {
    about = "Sends what stands in the prompt's window.",
    run = function(at)
      at.panel:send()
    end,
  },
  stop = {
    about = "Ends the running turn.",
    run = function(at)
      at.session:cancel()
    end,
  },
  accept = { about = "Accepts the proposed change at the cursor.", run = decide(true, false) },
  reject = { about = "Rejects the proposed change at the cursor.", run = decide(false, false) },
  acceptall = { about = "Accepts what is undecided in the reviewed file.", run = decide(true, true) },
  rejectall = { about = "Rejects what is undecided in the reviewed file.", run = decide(false, true) },
  next = { about = "Goes to the next proposed change.", run = jump(1) },
  prev = { about = "Goes to the previous proposed change.", run = jump(-1) },
  allow = {
    about = "Answers the open question: allow once, or as the argument says (session, always).",
    run = function(at, args)
      at.asks:act("allow_" .. (args == "" and "once" or args))
    end,
    complete = function()
      return { "once", "session", "always" }
    end,
  },
  deny = {
    about = "Refuses the open question; TEXT is a word to the model.",
    run = function(at, args)
      at.asks:act("reject_once", args ~= "" and args or nil)
    end,
  },
  permission = {
    about = "Shows the open question and goes into it.",
    run = function(at)
      at.asks:focus()
    end,
  },
  diff = { about = "Compares the file with the proposed change in two windows.", run = diff },
  changes = { about = "Puts the files that were changed into the quickfix list.", run = changes },
  mode = {
    about = "Sets the permission mode.",
    run = mode,
    complete = function()
      return MODES
    end,
  },
  sessions = {
    about = "Lists the sessions of this folder (TEXT: only those that hold it) and loads one.",
    run = sessions,
  },
  status = { about = "Says how the sidecar is.", run = status },
  log = {
    about = "Opens the log, in which the sidecar's own words stand too.",
    run = function()
      vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.get_log_path()))
    end,
  },
}

--- The names, sorted.
---@return string[]
function M.names()
  local names = vim.tbl_keys(M.table)
  table.sort(names)
  return names
end

--- Runs `:Toolgate NAME ARGS`.
---@param call table As Neovim hands it to a user command.
function M.run(call)
  local name, args = call.args:match("^(%S*)%s*(.*)$")
  if name == "" then
    name = "open"
  end
  local command = M.table[name]
  if not command then
    vim.notify(
      ("toolgate: there is no sub-command %s; there are %s"):format(name, table.concat(M.names(), ", ")),
      vim.log.levels.ERROR
    )
    return
  end
  command.run(desk.current(), args, call)
end

--- Completes `:Toolgate`.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local name = line:match("^.-Toolgate%s+(%S+)%s+%S*$")
  local words = M.names()
  if name then
    local command = M.table[name]
    words = command and command.complete and command.complete() or {}
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

return M
