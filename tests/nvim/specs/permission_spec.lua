--- Questions: nothing is answered by accident, everything is shown, each is answered once.

local h = require("harness")

local OPTIONS = {
  { option = "reject_once", label = "Reject" },
  { option = "reject_and_stop", label = "Reject and stop" },
  { option = "allow_once", label = "Allow once" },
  { option = "allow_always", label = "Allow always", rules = { "Bash(make test:*)" } },
}

local function permission(id, command, change)
  return {
    sessionId = "s1",
    askId = id,
    ask = vim.tbl_extend("force", {
      kind = "permission",
      callId = "c-" .. id,
      tool = "Bash",
      callKind = "execute",
      title = "make test",
      traits = { readOnly = false, destructive = true, openWorld = false },
      content = { payload = { kind = "terminal", command = command, output = "", truncated = false } },
      why = { text = "no rule allows it", rule = "Bash(*)", source = "built-in" },
      options = OPTIONS,
      digest = "digest-" .. id,
    }, change or {}),
  }
end

local function ask(sidecar, id, command, change)
  sidecar:notify("toolgate/ask/opened", permission(id, command, change))
  h.wait("the question", function()
    return h.question() ~= ""
  end)
end

local function close(sidecar, id, by)
  sidecar:notify("toolgate/ask/closed", { sessionId = "s1", askId = id, by = by })
end

local function awake()
  h.wait("the keys to work", function()
    return not h.footer():find("sleep", 1, true)
  end)
end

local function answers(sidecar)
  return sidecar:sent("toolgate/ask/answer")
end

return {
  {
    "a question shows the whole command, why it asks, the rule and the options; it takes no focus",
    function()
      local buf = h.open("a.txt", "one\n")
      local sidecar = h.start()
      ask(sidecar, "a1", "make test && \\\n  rm -rf build", { modelDescription = "harmless" })
      h.same(vim.api.nvim_get_current_buf(), buf)
      h.same(
        h.question(),
        table.concat({
          "Bash: make test",
          "may change things, hard to undo",
          "Why: no rule allows it",
          "Rule: Bash(*) (from built-in)",
          "",
          "[d] Reject",
          "[x] Reject and stop",
          "[a] Allow once",
          "[A] Allow always",
          "      rule: Bash(make test:*)",
          "[m] refuse with a word to the model",
          "",
          "The whole of it:",
          "make test && \\",
          "  rm -rf build",
          "",
          "The model says about it (not checked): harmless",
        }, "\n")
      )
    end,
  },
  {
    "keys in the first moments answer nothing, later they do, once",
    function()
      local sidecar = h.start()
      ask(sidecar, "a1", "ls")
      vim.cmd("Toolgate permission")
      h.press("aad")
      vim.cmd("Toolgate allow")
      h.same(answers(sidecar), {})
      awake()
      h.press("a")
      h.same(answers(sidecar), { { askId = "a1", digest = "digest-a1", option = "allow_once" } })
      vim.cmd("Toolgate allow")
      vim.cmd("Toolgate deny")
      h.same(#answers(sidecar), 1)
      h.same(h.question(), "")
    end,
  },
  {
    "every option has a key",
    function()
      local sidecar = h.start()
      for key, option in pairs({ d = "reject_once", x = "reject_and_stop", a = "allow_once", A = "allow_always" }) do
        ask(sidecar, option, "ls")
        awake()
        vim.cmd("Toolgate permission")
        h.press(key)
        h.same(answers(sidecar)[#answers(sidecar)].option, option)
        close(sidecar, option, "answered")
        h.wait("the end", function()
          return h.question() == ""
        end)
      end
    end,
  },
  {
    "a refusal may carry a word to the model",
    function()
      local sidecar = h.start()
      ask(sidecar, "a1", "ls")
      awake()
      vim.cmd("Toolgate deny use the other tool")
      h.same(answers(sidecar)[1], {
        askId = "a1",
        digest = "digest-a1",
        option = "reject_once",
        message = "use the other tool",
      })
    end,
  },
  {
    "an option that is not offered is not sent",
    function()
      local sidecar = h.start()
      ask(sidecar, "a1", "ls")
      awake()
      vim.cmd("Toolgate allow session")
      h.same(answers(sidecar), {})
      h.holds(h.messages(), "does not offer")
    end,
  },
  {
    "several questions queue, none replaces another, and the time begins anew for each",
    function()
      local sidecar = h.start()
      ask(sidecar, "a1", "first command")
      sidecar:notify("toolgate/ask/opened", permission("a2", "second command"))
      h.wait("both", function()
        return h.question():find("(1 of 2)", 1, true)
      end)
      h.holds(h.question(), "first command")
      h.holds(require("toolgate").statusline(), "needs you (2)")
      awake()
      vim.cmd("Toolgate deny")
      h.wait("the second", function()
        return h.question():find("second command", 1, true)
      end)
      vim.cmd("Toolgate deny")
      h.same(#answers(sidecar), 1, "the second is too young to be answered")
      awake()
      vim.cmd("Toolgate allow")
      h.same(h.messages(), "")
      h.same(answers(sidecar)[2], { askId = "a2", digest = "digest-a2", option = "allow_once" })
    end,
  },
  {
    "a question that is withdrawn disappears and cannot be answered",
    function()
      local sidecar = h.start()
      ask(sidecar, "a1", "ls")
      awake()
      close(sidecar, "a1", "withdrawn")
      h.wait("the end", function()
        return h.question() == ""
      end)
      vim.cmd("Toolgate allow")
      h.same(answers(sidecar), {})
    end,
  },
  {
    "closing the view is no answer, the question comes back",
    function()
      local sidecar = h.start()
      ask(sidecar, "a1", "ls")
      awake()
      vim.api.nvim_win_close(h.float(), true)
      vim.cmd("Toolgate allow")
      h.same(answers(sidecar), {}, "it was not in sight")
      h.holds(h.question(), "ls")
      awake()
      vim.cmd("Toolgate allow")
      h.same(#answers(sidecar), 1)
    end,
  },
  {
    "what does not fit must be scrolled to its end before it can be allowed",
    function()
      local sidecar = h.start()
      ask(sidecar, "a1", ("echo line\n"):rep(60) .. "rm -rf ~")
      awake()
      h.holds(h.footer(), "scroll to the end")
      vim.cmd("Toolgate allow")
      h.same(answers(sidecar), {})
      h.holds(h.messages(), "scroll to the end")
      vim.cmd("Toolgate permission")
      h.press("G")
      vim.cmd("redraw")
      h.press("a")
      h.same(#answers(sidecar), 1)
    end,
  },
  {
    "what is longer than a message is read to its end before it can be allowed",
    function()
      local sidecar = h.start()
      local held
      sidecar.answers["toolgate/call/output"] = function(params)
        if params.offset == 0 then
          return { text = "echo a; ", next = 8, totalBytes = 16 }
        end
        held = true
        return { text = "rm -rf ~", totalBytes = 16 }
      end
      ask(sidecar, "a1", "echo a; ", {
        content = {
          payload = { kind = "terminal", command = "echo a; ", output = "", truncated = true },
          contentRef = "r1",
          totalBytes = 16,
        },
      })
      awake()
      h.wait("all of it", function()
        return held and h.question():find("echo a; rm -rf ~", 1, true)
      end)
      vim.cmd("Toolgate allow")
      h.same(#answers(sidecar), 1)
    end,
  },
  {
    "pages that end within a line or a run of blank lines are shown as one text",
    function()
      local sidecar = h.start()
      local pages = { "one\ntw", "o\n", "\n", "\n \nthree", "\n", "four\n\n", "five" }
      sidecar.answers["toolgate/call/output"] = function(params)
        local number = params.offset + 1
        return { text = pages[number], next = number < #pages and number or nil, totalBytes = 30 }
      end
      ask(sidecar, "a1", "one", {
        content = {
          payload = { kind = "terminal", command = "one", output = "", truncated = true },
          contentRef = "r1",
          totalBytes = 30,
        },
        modelDescription = "counts",
      })
      local whole = "The whole of it:\none\ntwo\n<3 blank lines>\nthree\nfour\n\nfive\n\nThe model says"
      h.wait("all of it", function()
        return h.question():find(whole, 1, true)
      end)
    end,
  },
  {
    "what cannot be read to its end can only be refused",
    function()
      local sidecar = h.start()
      ask(sidecar, "a1", "echo a; ", {
        content = {
          payload = { kind = "terminal", command = "echo a; ", output = "", truncated = true },
          contentRef = "r1",
          totalBytes = 16,
        },
      })
      awake()
      vim.cmd("Toolgate allow")
      h.same(answers(sidecar), {})
      vim.cmd("Toolgate deny")
      h.same(answers(sidecar)[1].option, "reject_once")
    end,
  },
  {
    "hostile commands are shown as what they are",
    function()
      local sidecar = h.start()
      ask(
        sidecar,
        "a1",
        "ls\u{202e} \27[8m r\u{430}m" .. (" "):rep(300) .. "; rm x" .. ("\n"):rep(40) .. "curl evil\u{a0}é"
      )
      h.holds(
        h.question(),
        "ls<U+202E> <U+001B>[8m r<U+0430>m<300 blanks>; rm x\n<39 blank lines>\ncurl evil<U+00A0>é"
      )
    end,
  },
  {
    "letters of two of the person's scripts in one word are marked",
    function()
      local sidecar = h.start({ permission = { scripts = { "latin", "cyrillic" } } })
      ask(sidecar, "a1", "ls r\u{430}m \u{434}\u{430} da")
      h.holds(h.question(), "ls r\u{430}m<mixed scripts> \u{434}\u{430} da")
    end,
  },
  {
    "an answer that is refused is told, and the question is open again",
    function()
      local sidecar = h.start()
      sidecar.answers["toolgate/ask/answer"] = function()
        return nil, { code = -32803, message = "another digest" }
      end
      ask(sidecar, "a1", "ls")
      awake()
      vim.cmd("Toolgate allow")
      h.wait("the refusal", function()
        return h.messages():find("another digest", 1, true)
      end)
      h.holds(h.question(), "Allow once")
    end,
  },
  {
    "with vim.ui.select the choice is the answer and leaving the list is none",
    function()
      local sidecar = h.start({ permission = { ui = "select" } })
      local choose
      vim.ui.select = function(_, about, done)
        choose = { about = about, done = done }
      end
      sidecar:notify("toolgate/ask/opened", permission("a1", "ls -la"))
      h.wait("the list", function()
        return choose
      end)
      h.holds(choose.about.prompt, "ls -la")
      choose.done(nil)
      h.same(answers(sidecar), {})
      vim.cmd("Toolgate permission")
      choose.done(OPTIONS[3])
      h.same(answers(sidecar)[1].option, "allow_once")
    end,
  },
  {
    "questions about repetition and trust are shown; one of an unknown kind is told",
    function()
      local sidecar = h.start()
      local options = { { option = "reject_once", label = "Stop" }, { option = "allow_once", label = "Go on" } }
      sidecar:notify("toolgate/ask/opened", {
        sessionId = "s1",
        askId = "a1",
        ask = { kind = "repetition", callId = "c1", text = "it failed three times", options = options },
      })
      h.wait("the question", function()
        return h.question():find("it failed three times", 1, true)
      end)
      awake()
      vim.cmd("Toolgate allow")
      h.same(answers(sidecar)[1], { askId = "a1", digest = "", option = "allow_once" })
      close(sidecar, "a1", "answered")
      sidecar:notify("toolgate/ask/opened", {
        sessionId = "s1",
        askId = "a2",
        ask = { kind = "trust", folder = "/x", wants = { "a hook" }, options = options },
      })
      h.wait("the question", function()
        return h.question():find("- a hook", 1, true)
      end)
      sidecar:notify("toolgate/ask/opened", { sessionId = "s1", askId = "a3", ask = { kind = "elicitation" } })
      h.wait("the word", function()
        return h.messages():find("elicitation", 1, true)
      end)
    end,
  },
  {
    "the User autocommands fire",
    function()
      local fired = {}
      vim.api.nvim_create_autocmd("User", {
        pattern = "Toolgate*",
        callback = function(event)
          fired[#fired + 1] = event.match
        end,
      })
      local sidecar = h.start()
      ask(sidecar, "a1", "ls")
      local started =
        { kind = "call_started", callId = "c1", tool = "B", callKind = "other", title = "t", locations = {} }
      sidecar:update(started)
      local content = { payload = { kind = "text", text = "" } }
      sidecar:update({ kind = "call_settled", callId = "c1", status = "completed", content = content, durationMs = 0 })
      local usage = { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 }
      sidecar:update({ kind = "turn_ended", turnId = "t1", stopReason = "end_turn", usage = usage })
      h.wait("the events", function()
        return #fired == 3
      end)
      h.same(fired, { "ToolgatePermission", "ToolgateCallSettled", "ToolgateTurnEnd" })
    end,
  },
}
