// The inline review on real documents: it shows, follows and never touches. Must never look at
// pixels: the walk's pictures do.
import assert from "node:assert/strict";
import * as vscode from "vscode";
import { AskQueue } from "../../src/model/asks.ts";
import { Reveal } from "../../src/model/reveal.ts";
import type { AskOpened, Hunk } from "../../src/protocol.ts";
import { InlineReview } from "../../src/review/inline.ts";
import { Proposals } from "../../src/review/proposals.ts";
import type { Test } from "./index.ts";
import { openFile, type, until } from "./kit.ts";

const hunk = (hunkId: string, oldStart: number, oldLines: string[], newLines: string[]): Hunk => ({
  hunkId,
  oldStart,
  oldLines,
  newStart: oldStart,
  newLines,
  state: "proposed",
});

function asking(uri: vscode.Uri, hunks: Hunk[]): AskOpened {
  return {
    sessionId: "s",
    askId: "a",
    ask: {
      kind: "permission",
      callId: "c",
      tool: "Edit",
      callKind: "edit",
      title: "Edit",
      traits: { readOnly: false, destructive: false, openWorld: false },
      content: { payload: { kind: "diff", path: uri.fsPath, uri: uri.toString(), creates: false, hunks } },
      why: { text: "edits ask" },
      options: [
        { option: "reject_once", label: "Deny" },
        { option: "allow_once", label: "Allow" },
      ],
      digest: "d",
    },
  };
}

/** The review over one document with two hunks; taken down afterwards. */
async function reviewing(
  body: (parts: {
    editor: vscode.TextEditor;
    asks: AskQueue;
    proposals: Proposals;
    inline: InlineReview;
  }) => Promise<void>,
): Promise<void> {
  const editor = await openFile("one\ntwo\nthree\nfour\n");
  const asks = new AskQueue();
  const proposals = new Proposals(asks);
  const inline = new InlineReview(proposals, asks, new Reveal(["Latn"]), () => Date.now());
  try {
    asks.add(
      asking(editor.document.uri, [hunk("h1", 0, ["one"], ["1", "1b"]), hunk("h2", 2, ["three"], ["3"])]),
    );
    await body({ editor, asks, proposals, inline });
  } finally {
    inline.dispose();
    proposals.dispose();
  }
}

async function lenses(editor: vscode.TextEditor): Promise<[number, string][]> {
  const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
    "vscode.executeCodeLensProvider",
    editor.document.uri,
  );
  return found.map((lens) => [lens.range.start.line, lens.command?.title.replace(/^\$\(\S+\) /, "") ?? ""]);
}

export const review: Test[] = [
  [
    "an open prompt draws lenses and threads; version and dirty mark of the document do not change",
    () =>
      reviewing(async ({ editor, asks, inline }) => {
        const { version } = editor.document;
        const shown = await until("the lenses", async () => {
          const found = await lenses(editor);
          return found.length >= 6 ? found : undefined;
        });
        assert.deepEqual(shown, [
          [0, "Accept"],
          [0, "Reject"],
          [0, "Show"],
          [2, "Accept"],
          [2, "Reject"],
          [2, "Show"],
        ]);
        assert.equal(inline.threads.size, 2);
        asks.decide("a", ["h1"], true);
        assert.equal(inline.threads.size, 1);
        assert.equal(editor.document.version, version);
        assert.equal(editor.document.isDirty, false);
        assert.notEqual(asks.get("a")?.shownAt, undefined, "being drawn in a visible editor counts as shown");
        asks.close("a");
        assert.equal(inline.threads.size, 0);
        assert.deepEqual(await lenses(editor), []);
        assert.equal(editor.document.version, version);
      }),
  ],
  [
    "hunks follow typing above, and typing within one is a conflict of that one only",
    () =>
      reviewing(async ({ editor, proposals }) => {
        await type(editor, 1, 0, "x\ny\n");
        assert.deepEqual(
          proposals.all().map(({ place }) => place),
          [
            { line: 0, conflict: false },
            { line: 4, conflict: false },
          ],
        );
        await type(editor, 4, 2, "!");
        assert.deepEqual(
          proposals.all().map(({ place }) => place.conflict),
          [false, true],
        );
      }),
  ],
];
