--- The panel: what streams in is shown once, in order, bounded, and nothing takes the focus.

local h = require("harness")

local function started(id, title, kind)
  return {
    kind = "call_started",
    callId = id,
    tool = "Bash",
    callKind = kind or "execute",
    title = title,
    locations = {},
  }
end

return {
  {
    "a prompt from the input window is sent and the answer streams into the panel",
    function()
      local sidecar = h.start()
      vim.cmd("Toolgate open")
      h.press("ihello there<Esc><CR>")
      h.wait("the prompt", function()
        return #sidecar:sent("toolgate/session/prompt") == 1
      end)
      h.same(sidecar:sent("toolgate/session/prompt")[1], {
        sessionId = "s1",
        content = { { type = "text", text = "hello there" } },
        when = "next_request",
      })
      h.same(h.text(h.buffer("toolgate-prompt")), "", "the prompt's window is empty again")
      sidecar:update({ kind = "turn_started", turnId = "t1" })
      sidecar:update({ kind = "user_message", text = "hello there" })
      sidecar:update({ kind = "agent_message_delta", text = "First li" })
      sidecar:update({ kind = "agent_message_delta", text = "ne.\nSecond " })
      sidecar:update({ kind = "agent_message_delta", text = "line." })
      h.wait("the text", function()
        return h.panel():find("Second line.", 1, true)
      end)
      h.same(h.panel(), "# Toolgate\n\n## You\n\nhello there\n\nFirst line.\nSecond line.")
    end,
  },
  {
    "a card shows why its call waits, its newest output, and how it ended",
    function()
      local sidecar = h.start()
      sidecar:update(started("c1", "make test"))
      sidecar:update({ kind = "call_state", callId = "c1", state = "asking", waits = "your approval" })
      h.wait("the reason", function()
        return h.panel():find("$ make test — waits: your approval", 1, true)
      end)
      sidecar:update({ kind = "call_state", callId = "c1", state = "running" })
      sidecar:update({ kind = "call_progress", callId = "c1", text = "1\n2\n3\n4\n5\n6\n7" })
      h.wait("the newest lines", function()
        return h.panel():find("    7", 1, true)
      end)
      assert(not h.panel():find("    2\n", 1, true), "only the newest lines are shown")
      sidecar:update({
        kind = "call_settled",
        callId = "c1",
        status = "failed",
        content = {
          payload = { kind = "terminal", command = "make test", output = "boom\n", truncated = false, exitCode = 2 },
        },
        durationMs = 1500,
      })
      h.wait("the end", function()
        return h.panel():find("$ make test — failed, 1 s", 1, true)
      end)
      h.same(h.panel(), "# Toolgate\n\n$ make test — failed, 1 s\n    $ make test\n    boom\n    exit code 2")
    end,
  },
  {
    "cards of parallel calls are told apart and keep their order",
    function()
      local sidecar = h.start()
      sidecar:update(started("c1", "a.txt", "read"))
      sidecar:update(started("c2", "b.txt", "read"))
      for _, id in ipairs({ "c2", "c1" }) do
        sidecar:update({
          kind = "call_settled",
          callId = id,
          status = "completed",
          content = { payload = { kind = "text", text = "text of " .. id } },
          durationMs = 3,
        })
      end
      sidecar:update({ kind = "agent_message_delta", text = "done" })
      h.wait("the end", function()
        return h.panel():find("done", 1, true) and h.panel():find("text of c1", 1, true)
      end)
      h.same(
        h.panel(),
        "# Toolgate\n\n≡ a.txt — completed, 3 ms\n    text of c1\n≡ b.txt — completed, 3 ms\n    text of c2\n\ndone"
      )
    end,
  },
  {
    "a settled card is folded, <CR> opens it",
    function()
      local sidecar = h.start()
      sidecar:update(started("c1", "ls"))
      sidecar:update({
        kind = "call_settled",
        callId = "c1",
        status = "completed",
        content = { payload = { kind = "text", text = "one\ntwo" } },
        durationMs = 3,
      })
      local win = vim.fn.win_findbuf(h.buffer("toolgate"))[1]
      local function closed()
        return vim.api.nvim_win_call(win, function()
          return vim.fn.foldclosed(4)
        end)
      end
      h.wait("the fold", function()
        return closed() == 3
      end)
      vim.api.nvim_set_current_win(win)
      vim.api.nvim_win_set_cursor(win, { 3, 0 })
      h.press("<CR>")
      h.same(closed(), -1)
    end,
  },
  {
    "streaming takes neither the focus nor the cursor",
    function()
      local buf = h.open("a.txt", "one\ntwo\n")
      local sidecar = h.start()
      vim.api.nvim_win_set_cursor(0, { 2, 1 })
      for index = 1, 50 do
        sidecar:update({ kind = "agent_message_delta", text = "line " .. index .. "\n" })
      end
      h.wait("the text", function()
        return h.panel():find("line 50", 1, true)
      end)
      h.same(vim.api.nvim_get_current_buf(), buf)
      h.same(vim.api.nvim_win_get_cursor(0), { 2, 1 })
    end,
  },
  {
    "the panel's window follows the end unless the person went elsewhere in it",
    function()
      local sidecar = h.start()
      local win = vim.fn.win_findbuf(h.buffer("toolgate"))[1]
      sidecar:update({ kind = "agent_message_delta", text = ("line\n"):rep(100) .. "last" })
      h.wait("the text", function()
        return h.panel():find("last", 1, true)
      end)
      h.same(vim.api.nvim_win_get_cursor(win)[1], vim.api.nvim_buf_line_count(h.buffer("toolgate")))
      vim.api.nvim_win_set_cursor(win, { 5, 0 })
      sidecar:update({ kind = "agent_message_delta", text = "\nmore" })
      h.wait("the text", function()
        return h.panel():find("more", 1, true)
      end)
      h.same(vim.api.nvim_win_get_cursor(win)[1], 5)
    end,
  },
  {
    "hostile text is named, never drawn",
    function()
      local sidecar = h.start()
      sidecar:update(started("c1", "rm \27[2K\u{202e}txt.exe\nsecond"))
      sidecar:update({ kind = "agent_message_delta", text = "a\u{200b}b\0c\r" })
      h.wait("the text", function()
        return h.panel():find("c<U+000D>", 1, true)
      end)
      h.holds(h.panel(), "$ rm <U+001B>[2K<U+202E>txt.exe second — arrived")
      h.holds(h.panel(), "a<U+200B>b<U+0000>c<U+000D>")
    end,
  },
  {
    "an update of an unknown kind is left alone, the next is shown",
    function()
      local sidecar = h.start()
      sidecar:update({ kind = "of_the_future", text = "?" })
      sidecar:update({ kind = "call_state", callId = "never seen", state = "running" })
      sidecar:update({ kind = "agent_message_delta", text = "still here" })
      h.wait("the text", function()
        return h.panel():find("still here", 1, true)
      end)
    end,
  },
  {
    "a message that cannot be drawn does not lose those behind it",
    function()
      local sidecar = h.start()
      sidecar:update({ kind = "agent_message_delta" })
      sidecar:update({ kind = "agent_message_delta", text = "still here" })
      h.wait("the text", function()
        return h.panel():find("still here", 1, true)
      end)
      h.holds(h.messages(), "could not be shown")
    end,
  },
  {
    "an output is read page by page, as far as it is looked at",
    function()
      local sidecar = h.start()
      local function page(number)
        local text = {}
        for line = 1, 200 do
          text[line] = ("page %d line %d"):format(number, line)
        end
        return table.concat(text, "\n") .. "\n"
      end
      sidecar.answers["toolgate/call/get"] = {
        callId = "c1",
        tool = "Bash",
        input = {},
        content = { payload = { kind = "text", text = "page 1" }, contentRef = "r1", totalBytes = 9000 },
      }
      sidecar.answers["toolgate/call/output"] = function(params)
        local number = params.offset / 1000 + 1
        return { text = page(number), next = number < 3 and params.offset + 1000 or nil, totalBytes = 9000 }
      end
      sidecar:update(started("c1", "ls"))
      h.wait("the card", function()
        return h.panel():find("$ ls", 1, true)
      end)
      vim.api.nvim_set_current_win(vim.fn.win_findbuf(h.buffer("toolgate"))[1])
      vim.api.nvim_win_set_cursor(0, { 3, 0 })
      h.press("o")
      h.wait("the first page", function()
        return h.text(0):find("page 1 line 200", 1, true)
      end)
      h.same(#sidecar:sent("toolgate/call/output"), 1, "the second page was not asked for yet")
      vim.api.nvim_win_set_cursor(0, { 190, 0 })
      vim.cmd("doautocmd CursorMoved | redraw")
      h.wait("the second page", function()
        vim.cmd("redraw | doautocmd CursorMoved")
        return h.text(0):find("page 2 line 200", 1, true)
      end)
    end,
  },
}
