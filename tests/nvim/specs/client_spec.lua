--- The link: started once, checked, started again with backoff, loaded where it was, plain words.

local h = require("harness")

local function text(seq, words, epoch)
  return {
    sessionId = "s1",
    epoch = epoch or "e1",
    seq = seq,
    update = { kind = "agent_message_delta", text = words },
  }
end

local QUICK = { restart = { first_delay_ms = 1, max_attempts = 2 } }

return {
  {
    "nothing is started before a command is given",
    function()
      local sidecar = h.sidecar()
      require("toolgate").setup({ cmd = sidecar:cmd() })
      h.open("a.txt", "one\n")
      h.same(sidecar.starts, 0)
      h.same(require("toolgate").statusline(), "")
    end,
  },
  {
    "what the client can do is announced",
    function()
      local sidecar = h.start({ settings = { provider = { model = "x" } } })
      local hello = sidecar:sent("initialize")[1].initializationOptions.toolgate
      h.same(hello.protocol, 1)
      h.same(hello.settings, { provider = { model = "x" } })
      for _, what in ipairs({ "permission", "review", "edit", "save" }) do
        h.same(hello.ui[what], true)
      end
      assert(vim.tbl_contains(hello.ui.render, "diff"))
    end,
  },
  {
    "one sidecar serves all files of a folder",
    function()
      local sidecar = h.start()
      h.open("a.txt", "one\n")
      vim.cmd("Toolgate open")
      h.open("b.txt", "one\n")
      vim.cmd("Toolgate open")
      h.same(sidecar.starts, 1)
      h.same(#sidecar:sent("toolgate/session/new"), 1)
    end,
  },
  {
    "another protocol is refused in plain words and not tried again",
    function()
      local sidecar = h.sidecar()
      sidecar.answers.initialize = { capabilities = { experimental = { toolgate = { protocol = 2, version = "9" } } } }
      require("toolgate").setup(vim.tbl_extend("force", { cmd = sidecar:cmd() }, QUICK))
      vim.cmd("Toolgate open")
      h.wait("the words", function()
        return h.messages():find("the sidecar speaks protocol 2, this plugin speaks 1", 1, true)
      end)
      h.holds(require("toolgate").statusline(), "cannot start")
    end,
  },
  {
    "something that is not Toolgate is refused in plain words",
    function()
      local sidecar = h.sidecar()
      sidecar.answers.initialize = { capabilities = {} }
      require("toolgate").setup(vim.tbl_extend("force", { cmd = sidecar:cmd() }, QUICK))
      vim.cmd("Toolgate open")
      h.wait("the words", function()
        return h.messages():find("is not Toolgate", 1, true)
      end)
    end,
  },
  {
    "a sidecar that refuses to start is told, not waited for",
    function()
      local sidecar = h.sidecar()
      sidecar.answers.initialize = function()
        return nil, { code = -32603, message = "the folder is gone" }
      end
      require("toolgate").setup({ cmd = sidecar:cmd() })
      vim.cmd("Toolgate open")
      h.wait("the words", function()
        return h.messages():find("the sidecar refused to start", 1, true)
      end)
      h.holds(require("toolgate").statusline(), "cannot start")
    end,
  },
  {
    "a binary that is not there is named",
    function()
      require("toolgate").setup({ cmd = "/nowhere/toolgate" })
      vim.cmd("Toolgate open")
      h.holds(h.messages(), "the setting cmd names /nowhere/toolgate, which is not an executable file")
    end,
  },
  {
    "a sidecar that keeps dying is given up after the allowed tries, and open tries once more",
    function()
      local sidecar = h.start(QUICK)
      sidecar.answers.initialize = function()
        vim.schedule(function()
          sidecar:die(3)
        end)
        return h.SILENT
      end
      sidecar:die(3)
      h.wait("the last word", function()
        return h.messages():find("ended with exit code 3, 3 times in a row", 1, true)
      end)
      h.same(sidecar.starts, 3)
      vim.cmd("Toolgate open")
      h.same(sidecar.starts, 4)
    end,
  },
  {
    "after a restart the session is loaded from where it was",
    function()
      local sidecar = h.start(QUICK)
      sidecar:update({ kind = "agent_message_delta", text = "before" })
      h.wait("the text", function()
        return h.panel():find("before", 1, true)
      end)
      sidecar.epoch = "e2"
      sidecar.answers["toolgate/session/load"] = {
        session = { sessionId = "s1", epoch = "e2", cwd = "/", mode = "plan", model = "m" },
        reset = true,
        updates = { text(1, "before, ", "e2"), text(2, "told again", "e2") },
        more = false,
        asks = {},
      }
      sidecar:die(9)
      h.wait("the text", function()
        return h.panel():find("told again", 1, true)
      end)
      h.same(h.panel(), "# Toolgate\n\nbefore, told again")
      h.same(sidecar:sent("toolgate/session/load"), { { sessionId = "s1", since = { epoch = "e1", seq = 1 } } })
      h.same(#sidecar:sent("toolgate/session/new"), 1)
      h.wait("the mode", function()
        return require("toolgate").statusline():find("plan", 1, true)
      end)
      sidecar:notify("toolgate/session/update", text(3, ", and on", "e2"))
      h.wait("the text", function()
        return h.panel():find("told again, and on", 1, true)
      end)
    end,
  },
  {
    "questions that are open are there again after a restart, those before it are gone",
    function()
      local sidecar = h.start(QUICK)
      local function repetition(id, words)
        local options = { { option = "reject_once", label = "Stop" } }
        local ask = { kind = "repetition", callId = "c1", text = words, options = options }
        return { sessionId = "s1", askId = id, ask = ask }
      end
      sidecar:notify("toolgate/ask/opened", repetition("a1", "old question"))
      h.wait("the question", function()
        return h.question():find("old question", 1, true)
      end)
      sidecar.answers["toolgate/session/load"] = {
        session = { sessionId = "s1", epoch = "e2", cwd = "/", mode = "plan", model = "m" },
        reset = true,
        updates = {},
        more = false,
        asks = { repetition("a2", "new question") },
      }
      sidecar:die(9)
      h.wait("the question", function()
        return h.question():find("new question", 1, true)
      end)
    end,
  },
  {
    "updates that were missed are asked for, page by page, and nothing is shown twice",
    function()
      local sidecar = h.start()
      local answer = {
        session = { sessionId = "s1", epoch = "e1", cwd = "/", mode = "default", model = "m" },
        reset = false,
        more = false,
        asks = {},
      }
      sidecar.answers["toolgate/session/load"] = function(params)
        local seq = params.since.seq
        local page = { updates = { text(seq + 1, ("<%d>"):format(seq + 1)) }, more = seq < 3 }
        return vim.tbl_extend("force", answer, page)
      end
      sidecar:notify("toolgate/session/update", text(1, "<1>"))
      sidecar:notify("toolgate/session/update", text(4, "<4>"))
      sidecar:notify("toolgate/session/update", text(5, "<5>"))
      sidecar:notify("toolgate/session/update", text(5, "<5>"))
      sidecar:notify("toolgate/session/update", text(2, "<2>"))
      sidecar:notify("toolgate/session/update", text(6, "<6>"))
      h.wait("all of it", function()
        return h.panel():find("<6>", 1, true)
      end)
      h.same(h.panel(), "# Toolgate\n\n<1><2><3><4><5><6>")
    end,
  },
  {
    "a gap that nobody can close is not asked about for ever",
    function()
      local sidecar = h.start()
      sidecar.answers["toolgate/session/load"] = {
        session = { sessionId = "s1", epoch = "e1", cwd = "/", mode = "default", model = "m" },
        reset = false,
        updates = {},
        more = false,
        asks = {},
      }
      sidecar:notify("toolgate/session/update", text(7, "seven"))
      h.wait("the text", function()
        return h.panel():find("seven", 1, true)
      end)
      h.same(#sidecar:sent("toolgate/session/load"), 1)
    end,
  },
  {
    "updates of another session are not shown",
    function()
      local sidecar = h.start()
      local foreign = text(1, "foreign")
      foreign.sessionId = "s2"
      sidecar:notify("toolgate/session/update", foreign)
      sidecar:notify("toolgate/session/update", text(1, "ours"))
      h.wait("the text", function()
        return h.panel():find("ours", 1, true)
      end)
      h.same(h.panel(), "# Toolgate\n\nours")
    end,
  },
  {
    "a panel that was wiped is made anew and filled again",
    function()
      local sidecar = h.start()
      sidecar:notify("toolgate/session/update", text(1, "once"))
      h.wait("the text", function()
        return h.panel():find("once", 1, true)
      end)
      vim.cmd("bwipeout! " .. h.buffer("toolgate"))
      sidecar:notify("toolgate/session/update", text(2, " more"))
      sidecar.answers["toolgate/session/load"] = {
        session = { sessionId = "s1", epoch = "e1", cwd = "/", mode = "default", model = "m" },
        reset = true,
        updates = { text(1, "once"), text(2, " more") },
        more = false,
        asks = {},
      }
      vim.cmd("Toolgate open")
      h.wait("the text", function()
        return h.panel() == "# Toolgate\n\nonce more"
      end)
    end,
  },
}
