--- Inline review: drawn at its place, decided hunk by hunk, the text untouched.

local h = require("harness")

local TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n"

local function hunk(id, start, old, new)
  return { hunkId = id, oldStart = start, oldLines = old, newStart = start, newLines = new, state = "proposed" }
end

local function diff_of(buf, hunks, change)
  return vim.tbl_extend("force", {
    kind = "diff",
    path = vim.api.nvim_buf_get_name(buf),
    uri = vim.uri_from_bufnr(buf),
    creates = false,
    version = vim.lsp.util.buf_versions[buf],
    hunks = hunks,
  }, change or {})
end

local function opened(id, diff)
  return {
    sessionId = "s1",
    askId = id,
    ask = {
      kind = "permission",
      callId = "c1",
      tool = "Edit",
      callKind = "edit",
      title = "a.txt",
      traits = { readOnly = false, destructive = false, openWorld = false },
      content = { payload = diff },
      why = { text = "edits are asked about" },
      options = { { option = "reject_once", label = "Reject" }, { option = "allow_once", label = "Allow once" } },
      digest = "d",
    },
  }
end

--- Opens a file with a proposed change of two hunks, waits until keys count.
local function propose(hunks, prepare)
  local buf = h.open("a.txt", TEXT)
  local sidecar = h.start()
  if prepare then
    prepare(buf)
  end
  sidecar:notify(
    "toolgate/ask/opened",
    opened("a1", diff_of(buf, hunks or { hunk("h1", 1, { "two" }, { "TWO", "2" }), hunk("h2", 4, { "five" }, {}) }))
  )
  h.wait("the keys to work", function()
    return h.footer() ~= "" and not h.footer():find("sleep", 1, true)
  end)
  return sidecar, buf
end

local function answers(sidecar)
  return sidecar:sent("toolgate/ask/answer")
end

return {
  {
    "hunks are drawn at their places and change neither text, version nor modified",
    function()
      local tick, version
      local _, buf = propose(nil, function(buf)
        tick, version = vim.api.nvim_buf_get_changedtick(buf), vim.lsp.util.buf_versions[buf]
      end)
      h.same(
        h.drawn(buf),
        table.concat({
          " one",
          "-two ⟨hunk 1/2 proposed⟩",
          "|+ TWO",
          "|+ 2",
          " three",
          " four",
          "-five ⟨hunk 2/2 proposed⟩",
          " six",
        }, "\n")
      )
      h.same(h.text(buf) .. "\n", TEXT)
      h.same(vim.api.nvim_buf_get_changedtick(buf), tick)
      h.same(vim.lsp.util.buf_versions[buf], version)
      h.same(vim.bo[buf].modified, false)
      h.holds(h.question(), "The change is shown in a.txt (2 hunks)")
    end,
  },
  {
    "one hunk accepted and one rejected are answered together",
    function()
      local sidecar, buf = propose()
      vim.cmd("Toolgate next")
      h.same(vim.api.nvim_win_get_cursor(0)[1], 2)
      vim.cmd("Toolgate accept")
      h.same(answers(sidecar), {}, "one is undecided")
      h.holds(h.drawn(buf), "⟨hunk 1/2 accepted⟩")
      vim.cmd("Toolgate next")
      h.same(vim.api.nvim_win_get_cursor(0)[1], 5)
      vim.cmd("Toolgate reject")
      h.same(answers(sidecar), {
        {
          askId = "a1",
          digest = "d",
          option = "allow_once",
          hunks = { { hunkId = "h1", accept = true }, { hunkId = "h2", accept = false } },
        },
      })
      sidecar:notify("toolgate/ask/closed", { sessionId = "s1", askId = "a1", by = "answered" })
      h.wait("the drawing to go", function()
        return h.drawn(buf) == " one\n two\n three\n four\n five\n six"
      end)
    end,
  },
  {
    "a decision can be changed while another hunk is undecided",
    function()
      local sidecar, buf = propose()
      vim.cmd("Toolgate next")
      vim.cmd("Toolgate accept")
      vim.cmd("Toolgate reject")
      h.holds(h.drawn(buf), " two ⟨hunk 1/2 rejected⟩\n three")
      vim.cmd("Toolgate rejectall")
      h.same(answers(sidecar)[1].option, "reject_once")
      h.same(answers(sidecar)[1].hunks, { { hunkId = "h1", accept = false }, { hunkId = "h2", accept = false } })
    end,
  },
  {
    "deny answers for the rest, what was accepted by hand stays accepted",
    function()
      local sidecar = propose()
      vim.cmd("Toolgate next")
      vim.cmd("Toolgate accept")
      vim.cmd("Toolgate deny")
      h.same(answers(sidecar)[1].option, "allow_once")
      h.same(answers(sidecar)[1].hunks, { { hunkId = "h1", accept = true }, { hunkId = "h2", accept = false } })
    end,
  },
  {
    "allow answers for the rest, what was rejected by hand stays rejected",
    function()
      local sidecar = propose()
      vim.cmd("Toolgate next")
      vim.cmd("Toolgate reject")
      vim.cmd("Toolgate allow")
      h.same(answers(sidecar)[1].option, "allow_once")
      h.same(answers(sidecar)[1].hunks, { { hunkId = "h1", accept = false }, { hunkId = "h2", accept = true } })
    end,
  },
  {
    "hunks follow while the person types elsewhere",
    function()
      local _, buf = propose()
      vim.api.nvim_win_set_cursor(0, { 1, 0 })
      h.press("Onew first<Esc>")
      vim.api.nvim_win_set_cursor(0, { 4, 0 })
      h.press("ointer<Esc>")
      h.same(
        h.drawn(buf),
        table.concat({
          " new first",
          " one",
          "-two ⟨hunk 1/2 proposed⟩",
          "|+ TWO",
          "|+ 2",
          " three",
          " inter",
          " four",
          "-five ⟨hunk 2/2 proposed⟩",
          " six",
        }, "\n")
      )
    end,
  },
  {
    "lines put directly before or behind a hunk are not part of it",
    function()
      local _, buf = propose()
      vim.api.nvim_win_set_cursor(0, { 2, 0 })
      h.press("Obefore<Esc>jobehind<Esc>")
      h.same(
        vim.list_slice(vim.split(h.drawn(buf), "\n"), 1, 6),
        { " one", " before", "-two ⟨hunk 1/2 proposed⟩", "|+ TWO", "|+ 2", " behind" }
      )
    end,
  },
  {
    "a hunk whose lines the person changes is a conflict, and none again after undo",
    function()
      local _, buf = propose()
      vim.api.nvim_win_set_cursor(0, { 2, 0 })
      h.press("xx<Esc>")
      h.wait("the conflict", function()
        return h.drawn(buf):find("hunk 1/2 conflict", 1, true)
      end)
      -- The person's line stays, so that it is not drawn as one that goes.
      h.same(h.drawn(buf):find("+ TWO", 1, true), nil)
      h.same(h.drawn(buf):find("-wo", 1, true), nil)
      vim.cmd("silent undo | silent undo")
      h.wait("the end of the conflict", function()
        return h.drawn(buf):find("-two ⟨hunk 1/2 proposed⟩", 1, true)
      end)
    end,
  },
  {
    "insertions are drawn before their line, at the top and behind the last line too",
    function()
      local _, buf = propose({
        hunk("h1", 0, {}, { "top" }),
        hunk("h2", 3, {}, { "middle" }),
        hunk("h3", 6, {}, { "end" }),
      })
      h.same(
        h.drawn(buf),
        table.concat({
          "| hunk 1/3 proposed ",
          "|+ top",
          " one",
          " two",
          " three",
          "| hunk 2/3 proposed ",
          "|+ middle",
          " four",
          " five",
          " six",
          "| hunk 3/3 proposed ",
          "|+ end",
        }, "\n")
      )
      vim.cmd("Toolgate prev")
      vim.cmd("normal! G")
      vim.cmd("Toolgate reject")
      h.holds(h.drawn(buf), " six\n| hunk 3/3 rejected ")
    end,
  },
  {
    "a proposal for a version that is past is drawn where its lines stand now",
    function()
      local buf = h.open("a.txt", TEXT)
      local sidecar = h.start()
      vim.api.nvim_buf_set_lines(buf, 0, 0, false, { "a", "b" })
      sidecar:notify(
        "toolgate/ask/opened",
        opened("a1", diff_of(buf, { hunk("h1", 1, { "two" }, { "TWO" }) }, { version = 1 }))
      )
      h.wait("the drawing", function()
        return h.drawn(buf):find("-two ⟨hunk 1/1 proposed⟩\n|+ TWO", 1, true)
      end)
    end,
  },
  {
    "the change of a file that is not open is shown whole in the question; next opens the file",
    function()
      local buf = h.open("a.txt", TEXT)
      local diff = diff_of(buf, { hunk("h1", 1, { "two" }, { "TWO" }) })
      local other = h.open("b.txt", "x\n")
      vim.api.nvim_buf_delete(buf, {})
      local sidecar = h.start()
      sidecar:notify("toolgate/ask/opened", opened("a1", diff))
      h.wait("the question", function()
        return h.question():find("@@ -2,1 +2,1 @@ proposed\n-two\n+TWO", 1, true)
      end)
      h.same(vim.api.nvim_get_current_buf(), other)
      vim.cmd("Toolgate next")
      h.same(vim.api.nvim_buf_get_name(0), diff.path)
      h.same(vim.api.nvim_win_get_cursor(0)[1], 2)
      h.holds(h.drawn(0), "-two ⟨hunk 1/1 proposed⟩\n|+ TWO")
      h.holds(h.question(), "shown in a.txt")
    end,
  },
  {
    "a new file is shown whole in the question",
    function()
      local buf = h.open("a.txt", TEXT)
      local diff = diff_of(
        buf,
        { hunk("h1", 0, {}, { "new text" }) },
        { creates = true, path = h.folder() .. "/new.txt" }
      )
      local sidecar = h.start()
      sidecar:notify("toolgate/ask/opened", opened("a1", diff))
      h.wait("the question", function()
        return h.question():find("+new text", 1, true)
      end)
      h.holds(h.question(), "new file " .. diff.path)
    end,
  },
  {
    "the first moments decide no hunk",
    function()
      local buf = h.open("a.txt", TEXT)
      local sidecar = h.start()
      sidecar:notify("toolgate/ask/opened", opened("a1", diff_of(buf, { hunk("h1", 1, { "two" }, { "TWO" }) })))
      h.wait("the drawing", function()
        return h.drawn(buf):find("proposed", 1, true)
      end)
      vim.cmd("Toolgate acceptall")
      h.same(answers(sidecar), {})
    end,
  },
  {
    "diff compares the file with the proposal in two windows",
    function()
      propose()
      for _, command in ipairs({ "next", "next", "reject", "diff" }) do
        vim.cmd("Toolgate " .. command)
      end
      local windows = vim.api.nvim_tabpage_list_wins(0)
      local texts = {}
      for _, win in ipairs(windows) do
        if vim.wo[win].diff then
          texts[#texts + 1] = h.text(vim.api.nvim_win_get_buf(win))
        end
      end
      h.same(texts, { "one\ntwo\nthree\nfour\nfive\nsix", "one\nTWO\n2\nthree\nfour\nfive\nsix" })
    end,
  },
}
