--- `:Toolgate`, the maps, the settings, the health check, the slices.

local h = require("harness")

return {
  {
    "sub-commands and their arguments are completed",
    function()
      h.same(vim.fn.getcompletion("Toolgate acc", "cmdline"), { "accept", "acceptall" })
      h.same(vim.fn.getcompletion("Toolgate mode p", "cmdline"), { "plan" })
      h.same(vim.fn.getcompletion("Toolgate allow ", "cmdline"), { "once", "session", "always" })
    end,
  },
  {
    "an unknown sub-command names those there are",
    function()
      vim.cmd("Toolgate frobnicate")
      h.holds(h.messages(), "there is no sub-command frobnicate; there are accept, acceptall, allow")
    end,
  },
  {
    "commands without anything to work on say so",
    function()
      h.start()
      for _, command in ipairs({ "accept", "rejectall", "next", "diff", "allow", "deny", "changes" }) do
        vim.cmd("Toolgate " .. command)
      end
      h.same(
        h.messages(),
        ("toolgate: no change is proposed\n"):rep(4)
          .. ("toolgate: no question is open\n"):rep(2)
          .. "toolgate: no file was changed"
      )
    end,
  },
  {
    "no global map is made, the <Plug> maps are there",
    function()
      h.start()
      for _, map in ipairs(vim.api.nvim_get_keymap("n")) do
        assert(not (map.desc or ""):find("Toolgate") or vim.startswith(map.lhs, "<Plug>(toolgate-"), map.lhs)
      end
      h.holds(vim.fn.maparg("<Plug>(toolgate-accept)", "n"), "Toolgate accept")
    end,
  },
  {
    "a prompt may carry lines of a file, and bars",
    function()
      local buf = h.open("a.txt", "one\ntwo\nthree\n")
      local sidecar = h.start()
      vim.cmd("2,3Toolgate prompt what is a | b?")
      h.wait("the prompt", function()
        return #sidecar:sent("toolgate/session/prompt") == 1
      end)
      h.same(sidecar:sent("toolgate/session/prompt")[1].content, {
        { type = "text", text = "what is a | b?" },
        { type = "selection", uri = vim.uri_from_bufnr(buf), startLine = 1, endLine = 2, text = "two\nthree" },
      })
    end,
  },
  {
    "stop ends the running turn",
    function()
      local sidecar = h.start()
      vim.cmd("Toolgate stop")
      h.same(sidecar:sent("toolgate/session/cancel"), { { sessionId = "s1" } })
    end,
  },
  {
    "the mode is set, and what the sidecar does not do is said",
    function()
      local sidecar = h.start()
      vim.cmd("Toolgate mode plan")
      h.wait("the answer", function()
        return h.messages():find("mode plan", 1, true)
      end)
      h.same(sidecar:sent("toolgate/session/setMode"), { { sessionId = "s1", mode = "plan" } })
      vim.cmd("Toolgate status")
      h.wait("the answer", function()
        return h.messages():find("unsupported: toolgate/status", 1, true)
      end)
    end,
  },
  {
    "changed files go to the quickfix list",
    function()
      local sidecar = h.start()
      sidecar:update({ kind = "files_changed", files = { "/x/a.txt", "/x/b.txt" } })
      sidecar:update({ kind = "files_changed", files = { "/x/a.txt" } })
      sidecar:update({ kind = "agent_message_delta", text = "done" })
      h.wait("the text", function()
        return h.panel():find("done", 1, true)
      end)
      vim.cmd("Toolgate changes")
      local names = vim.tbl_map(function(item)
        return vim.api.nvim_buf_get_name(item.bufnr)
      end, vim.fn.getqflist())
      h.same(names, { "/x/a.txt", "/x/b.txt" })
    end,
  },
  {
    "a session is chosen from the list and loaded",
    function()
      local sidecar = h.start()
      sidecar.answers["toolgate/session/list"] = {
        sessions = { { sessionId = "s9", cwd = "/", title = "an old\none", updated = "2026-01-01T00:00:00Z" } },
      }
      sidecar.answers["toolgate/session/load"] = {
        session = { sessionId = "s9", epoch = "e1", cwd = "/", mode = "plan", model = "m" },
        reset = true,
        updates = {
          { sessionId = "s9", epoch = "e1", seq = 1, update = { kind = "user_message", text = "from long ago" } },
        },
        more = false,
        asks = {},
      }
      local shown
      vim.ui.select = function(items, about, done)
        shown = about.format_item(items[1])
        done(items[1])
      end
      vim.cmd("Toolgate sessions")
      h.wait("the text", function()
        return h.panel():find("from long ago", 1, true)
      end)
      h.same(shown, "2026-01-01T00:00:00Z  an old one")
      h.same(sidecar:sent("toolgate/session/list")[1].workspace, h.folder())
    end,
  },
  {
    "wrong settings are named and the defaults stay",
    function()
      require("toolgate").setup({
        panel = { width = "wide", side = "left" },
        colour = true,
        permission = { guard_ms = 10 },
      })
      h.holds(h.messages(), "setting panel.width: expected a whole number from 20")
      h.holds(h.messages(), "setting colour: there is none of this name")
      h.holds(h.messages(), "setting permission.guard_ms: expected a whole number from 500")
      local config = require("toolgate.config").get()
      h.same({ config.panel.width, config.panel.side, config.permission.guard_ms }, { 60, "left", 500 })
    end,
  },
  {
    "the health check tells what is found and running",
    function()
      h.start()
      vim.cmd("checkhealth toolgate")
      local report = h.text(0)
      h.holds(report, "the settings are right")
      h.holds(report, "the sidecar comes from the setting cmd")
      h.holds(report, "(sidecar 0.0.0-spec, protocol 1)")
    end,
  },
  {
    "the health check names what is wrong",
    function()
      require("toolgate").setup({ cmd = "/nowhere/toolgate" })
      vim.cmd("checkhealth toolgate")
      h.holds(h.text(0), "/nowhere/toolgate, which is not an executable file")
    end,
  },
  {
    "what arrives is handled in slices of bounded time, in order",
    function()
      local time, runs, seen, slices = 0, {}, {}, {}
      local function handle(item)
        -- One millisecond an item, by the clock of this case.
        time = time + 1000000
        seen[#seen + 1] = item
      end
      local function after()
        slices[#slices + 1] = #seen
      end
      local batch = require("toolgate.batch").new(handle, after, function()
        return time
      end, function(run)
        runs[#runs + 1] = run
      end)
      for item = 1, 20 do
        batch:push(item)
      end
      h.same(seen, {}, "nothing is handled in the tick in which it arrives")
      while #runs > 0 do
        table.remove(runs, 1)()
      end
      h.same(slices, { 8, 16, 20 })
      h.same(seen, vim.fn.range(1, 20))
    end,
  },
}
