// Checked edits in real documents. Must never go through the sidecar: the walk does.
import assert from "node:assert/strict";
import * as vscode from "vscode";
import { Documents } from "../../src/document/documents.ts";
import { hashText } from "../../src/model/lines.ts";
import type { DocumentEditParams, LineEdit } from "../../src/protocol.ts";
import { SentVersions } from "../../src/sidecar/sent.ts";
import type { Test } from "./index.ts";
import { openFile, type, until } from "./kit.ts";

function params({ document }: vscode.TextEditor, edits: LineEdit[]): DocumentEditParams {
  return {
    uri: document.uri.toString(),
    version: document.version,
    hash: hashText(document.getText()),
    edits,
    label: "edit",
  };
}

const subject = () => new Documents(new SentVersions());

export const documents: Test[] = [
  [
    "an edit of an unsaved buffer is one undo step and leaves the disk alone",
    async () => {
      const editor = await openFile("a\nb\nc\n");
      await type(editor, 3, 0, "mine\n");
      const edits = [
        { startLine: 0, oldLines: ["a"], newLines: ["A", "A2"] },
        { startLine: 2, oldLines: ["c"], newLines: [] },
      ];
      const answer = await subject().edit(params(editor, edits));
      assert.equal(editor.document.getText(), "A\nA2\nb\nmine\n");
      assert.deepEqual(answer, {
        applied: true,
        version: editor.document.version,
        hash: hashText("A\nA2\nb\nmine\n"),
      });
      assert.equal(editor.document.isDirty, true);
      const disk = await vscode.workspace.fs.readFile(editor.document.uri);
      assert.equal(Buffer.from(disk).toString(), "a\nb\nc\n");
      await vscode.commands.executeCommand("undo");
      await until("the undo", () => (editor.document.getText() === "a\nb\nc\nmine\n" ? true : undefined));
    },
  ],
  [
    "CRLF stays CRLF, and a text without a final newline stays without",
    async () => {
      const editor = await openFile("a\r\nb");
      const answer = await subject().edit(
        params(editor, [{ startLine: 1, oldLines: ["b"], newLines: ["x", "y"] }]),
      );
      assert.equal(answer.applied, true);
      assert.equal(editor.document.getText(), "a\r\nx\r\ny");
    },
  ],
  [
    "a byte order mark is no part of the text and stays in the file",
    async () => {
      const editor = await openFile("\uFEFFa\nb\n");
      assert.equal(hashText(editor.document.getText()), hashText("a\nb\n"));
      const answer = await subject().edit(
        params(editor, [{ startLine: 0, oldLines: ["a"], newLines: ["x"] }]),
      );
      assert.equal(answer.applied, true);
      assert.deepEqual(await subject().save({ uri: editor.document.uri.toString() }), { saved: true });
      const disk = await vscode.workspace.fs.readFile(editor.document.uri);
      assert.equal(Buffer.from(disk).toString(), "\uFEFFx\nb\n");
    },
  ],
  [
    "an old version, another text, other lines: refused, nothing changed",
    async () => {
      const editor = await openFile("a\nb\n");
      const right = params(editor, [{ startLine: 0, oldLines: ["a"], newLines: ["x"] }]);
      const wrong = [
        { ...right, version: right.version - 1 },
        { ...right, hash: hashText("other") },
        { ...right, edits: [{ startLine: 1, oldLines: ["a"], newLines: ["x"] }] },
      ];
      for (const one of wrong) {
        const answer = await subject().edit(one);
        assert.equal(answer.applied, false);
        assert.ok(answer.reason);
      }
      assert.equal(editor.document.getText(), "a\nb\n");
      assert.equal(editor.document.isDirty, false);
    },
  ],
  [
    "typing that arrives between check and edit wins: nothing of the edit is applied",
    async () => {
      const editor = await openFile("a\nb\n");
      const edit = params(editor, [{ startLine: 0, oldLines: ["a"], newLines: ["x"] }]);
      const [, answer] = await Promise.all([type(editor, 1, 0, "typed "), subject().edit(edit)]);
      assert.equal(answer.applied, false);
      assert.equal(editor.document.getText(), "a\ntyped b\n");
    },
  ],
  [
    "a document that is not open, and what is no URI, are refused",
    async () => {
      for (const uri of ["file:///nowhere/at-all.txt", "::not a uri"]) {
        const none = { uri, version: 1, hash: "", edits: [], label: "" };
        assert.equal((await subject().edit(none)).applied, false);
        assert.equal((await subject().save({ uri })).saved, false);
      }
    },
  ],
];
