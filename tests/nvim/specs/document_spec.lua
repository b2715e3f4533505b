--- Checked edits of open documents: all or nothing, one undo step, told before the answer.

local h = require("harness")

local function edit(sidecar, buf, edits, change)
  local text = h.text(buf) .. "\n"
  return sidecar:request(
    "toolgate/document/edit",
    vim.tbl_extend("force", {
      uri = vim.uri_from_bufnr(buf),
      version = vim.lsp.util.buf_versions[buf],
      hash = vim.fn.sha256(text),
      edits = edits,
      label = "Edit",
    }, change or {})
  )
end

--- Follows the changes that were sent, as the sidecar's mirror does, and gives its text.
local function mirror(sidecar, buf)
  local uri, lines = vim.uri_from_bufnr(buf), nil
  for _, message in ipairs(sidecar.log) do
    local document = message.params and message.params.textDocument
    if message.method == "textDocument/didOpen" and document.uri == uri then
      lines = vim.split(document.text, "\n", { plain = true })
    elseif message.method == "textDocument/didChange" and document.uri == uri then
      for _, change in ipairs(message.params.contentChanges) do
        if change.range then
          local from, to = change.range.start, change.range["end"]
          local head = vim.list_slice(lines, 1, from.line)
          local first = (lines[from.line + 1] or ""):sub(1, from.character)
          local last = (lines[to.line + 1] or ""):sub(to.character + 1)
          local middle = vim.split(first .. change.text .. last, "\n", { plain = true })
          lines = vim.list_extend(vim.list_extend(head, middle), vim.list_slice(lines, to.line + 2))
        else
          lines = vim.split(change.text, "\n", { plain = true })
        end
      end
    end
  end
  return lines and table.concat(lines, "\n")
end

local TWO = {
  { startLine = 0, oldLines = { "one" }, newLines = { "ONE", "one and a half" } },
  { startLine = 2, oldLines = { "three" }, newLines = {} },
}

return {
  {
    "a file is shown to the sidecar when it starts, and each file opened later",
    function()
      local first = h.open("a.txt", "one\n")
      local sidecar = h.start()
      local second = h.open("b.txt", "two\n")
      h.same(mirror(sidecar, first), "one\n")
      h.same(mirror(sidecar, second), "two\n")
    end,
  },
  {
    "several edits are applied as one step, and the changes are sent before the answer",
    function()
      local buf = h.open("a.txt", "one\ntwo\nthree\nfour\n")
      local sidecar = h.start()
      local answer = edit(sidecar, buf, TWO)
      h.same(h.text(buf), "ONE\none and a half\ntwo\nfour")
      h.same(mirror(sidecar, buf), "ONE\none and a half\ntwo\nfour\n", "what the sidecar knows when it is answered")
      h.same(answer, {
        applied = true,
        version = vim.lsp.util.buf_versions[buf],
        hash = vim.fn.sha256("ONE\none and a half\ntwo\nfour\n"),
      })
      vim.cmd("silent undo")
      h.same(h.text(buf), "one\ntwo\nthree\nfour", "one undo takes all of it back")
    end,
  },
  {
    "the edit is an undo step of its own while the person is typing",
    function()
      local buf = h.open("a.txt", "one\ntwo\nthree\nfour\n")
      local sidecar = h.start()
      vim.api.nvim_win_set_cursor(0, { 4, 0 })
      -- The edit arrives in insert mode, between two typed words.
      vim.keymap.set("i", "<F2>", function()
        assert(edit(sidecar, buf, TWO).applied)
      end, { buffer = buf })
      h.press("Amore <F2>words<Esc>")
      h.same(h.text(buf), "ONE\none and a half\ntwo\nfourmore words")
      local function undone(expected)
        vim.cmd("silent undo")
        h.same(h.text(buf), expected)
        h.same(mirror(sidecar, buf), expected .. "\n")
      end
      undone("ONE\none and a half\ntwo\nfourmore ")
      undone("one\ntwo\nthree\nfourmore ")
      undone("one\ntwo\nthree\nfour")
      vim.cmd("silent redo | silent redo | silent redo")
      h.same(h.text(buf), "ONE\none and a half\ntwo\nfourmore words")
    end,
  },
  {
    "the person's unsaved text stays and the file on disk is not touched",
    function()
      local buf = h.open("a.txt", "one\ntwo\nthree\n")
      local sidecar = h.start()
      vim.api.nvim_buf_set_lines(buf, 1, 2, false, { "two, unsaved" })
      assert(edit(sidecar, buf, { TWO[1] }).applied)
      h.same(h.text(buf), "ONE\none and a half\ntwo, unsaved\nthree")
      h.same(table.concat(vim.fn.readfile(vim.api.nvim_buf_get_name(buf)), "\n"), "one\ntwo\nthree")
      h.same(vim.bo[buf].modified, true)
    end,
  },
  {
    "another version, another text, another line, overlapping edits: nothing is changed",
    function()
      local buf = h.open("a.txt", "one\ntwo\nthree\n")
      local sidecar = h.start()
      local version = vim.lsp.util.buf_versions[buf]
      local function refused(reason, edits, change)
        local answer = edit(sidecar, buf, edits, change)
        h.same(answer.applied, false)
        h.holds(answer.reason, reason)
        h.same(h.text(buf), "one\ntwo\nthree")
        h.same(answer.version, version)
        h.same(answer.hash, vim.fn.sha256("one\ntwo\nthree\n"))
      end
      refused("is at version", { TWO[1] }, { version = version - 1 })
      refused("text is another", { TWO[1] }, { hash = ("0"):rep(64) })
      refused("line 2 is another", { { startLine = 0, oldLines = { "one", "zwei" }, newLines = {} } })
      refused("fewer lines", { { startLine = 2, oldLines = { "three", "four" }, newLines = {} } })
      refused("overlap", { TWO[2], TWO[1] })
      refused("overlap", {
        { startLine = 0, oldLines = { "one", "two" }, newLines = {} },
        { startLine = 1, oldLines = { "two" }, newLines = {} },
      })
      refused("no line can hold", { { startLine = 0, oldLines = {}, newLines = { "a\nb" } } })
      refused("beyond the text", { { startLine = 9, oldLines = {}, newLines = { "x" } } })
      vim.bo[buf].modifiable = false
      refused("modifiable", { TWO[1] })
    end,
  },
  {
    "a document that is not open is refused, with an answer",
    function()
      h.open("a.txt", "one\n")
      local sidecar = h.start()
      local answer = sidecar:request("toolgate/document/edit", {
        uri = "file:///nowhere/b.txt",
        version = 1,
        hash = "",
        edits = {},
        label = "",
      })
      h.same(answer, { applied = false, version = 0, hash = "", reason = "the document is not open" })
    end,
  },
  {
    "a final newline is taken away and told",
    function()
      local buf = h.open("a.txt", "one\ntwo\n")
      local sidecar = h.start()
      local change = { startLine = 1, oldLines = { "two" }, newLines = { "TWO" }, finalNewline = false }
      local answer = edit(sidecar, buf, { change })
      h.same(answer.hash, vim.fn.sha256("one\nTWO"))
      h.same(mirror(sidecar, buf), "one\nTWO")
      vim.cmd("silent write")
      h.same(vim.fn.readfile(vim.api.nvim_buf_get_name(buf), "b"), { "one", "TWO" })
    end,
  },
  {
    "a file without a final newline and one with CRLF keep their endings",
    function()
      local bare = h.open("bare.txt", "one\ntwo")
      local crlf = h.open("crlf.txt", "one\r\ntwo\r\n")
      local sidecar = h.start()
      local change = { { startLine = 0, oldLines = { "one" }, newLines = { "1", "2" } } }
      assert(edit(sidecar, bare, change, { hash = vim.fn.sha256("one\ntwo") }).applied)
      local answer = edit(sidecar, crlf, change)
      h.same(answer.applied, true)
      h.same(answer.hash, vim.fn.sha256("1\n2\ntwo\n"), "the hash is over LF endings")
      for _, buf in ipairs({ bare, crlf }) do
        assert(sidecar:request("toolgate/document/save", { uri = vim.uri_from_bufnr(buf) }).saved)
      end
      h.same(vim.fn.readfile(vim.api.nvim_buf_get_name(bare), "b"), { "1", "2", "two" })
      h.same(vim.fn.readfile(vim.api.nvim_buf_get_name(crlf), "b"), { "1\r", "2\r", "two\r", "" })
    end,
  },
  {
    "save writes the buffer, and says why when it cannot",
    function()
      local buf = h.open("a.txt", "one\n")
      local sidecar = h.start()
      local uri = vim.uri_from_bufnr(buf)
      vim.api.nvim_buf_set_lines(buf, 0, 1, false, { "ONE" })
      h.same(sidecar:request("toolgate/document/save", { uri = uri }), { saved = true })
      h.same(vim.fn.readfile(vim.api.nvim_buf_get_name(buf)), { "ONE" })
      h.same(#sidecar:sent("textDocument/didSave"), 1)
      vim.api.nvim_buf_set_lines(buf, 0, 1, false, { "two" })
      vim.bo[buf].readonly = true
      local answer = sidecar:request("toolgate/document/save", { uri = uri })
      h.same(answer.saved, false)
      h.holds(answer.reason, "readonly")
    end,
  },
}
