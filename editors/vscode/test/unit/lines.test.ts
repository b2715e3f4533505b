// Edits of open documents: what is refused, and what the text becomes. Must never look at more than
// the plan and its effect on a text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hashText, type Plan, planEdit, type Replacement } from "../../src/model/lines.ts";
import type { LineEdit } from "../../src/protocol.ts";

function plan(text: string, edits: LineEdit[], change: { version?: number; hash?: string } = {}): Plan {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const params = {
    uri: "file:///a",
    version: change.version ?? 7,
    hash: change.hash ?? hashText(text),
    edits,
    label: "edit",
  };
  return planEdit({ version: 7, text, eol }, params);
}

/** Applies replacements as an editor does: from the last to the first. */
function apply(text: string, replacements: Replacement[]): string {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n/g)) {
    starts.push(match.index + match[0].length);
  }
  const offset = ({ line, character }: { line: number; character: number }) =>
    Math.min((starts[line] ?? text.length) + character, text.length);
  return [...replacements]
    .reverse()
    .reduce(
      (now, { start, end, text: fresh }) => now.slice(0, offset(start)) + fresh + now.slice(offset(end)),
      text,
    );
}

function check(before: string, edits: LineEdit[], after: string): void {
  const made = plan(before, edits);
  assert.ok("replacements" in made, "reason" in made ? made.reason : "");
  assert.equal(apply(before, made.replacements), after);
}

function refused(before: string, edits: LineEdit[], reason: RegExp, change = {}): void {
  const made = plan(before, edits, change);
  assert.ok("reason" in made);
  assert.match(made.reason, reason);
}

const edit = (
  startLine: number,
  oldLines: string[],
  newLines: string[],
  finalNewline?: boolean,
): LineEdit => ({
  startLine,
  oldLines,
  newLines,
  finalNewline,
});

test("lines are replaced, put in and taken out", () => {
  check("a\nb\nc\n", [edit(1, ["b"], ["B", "B2"])], "a\nB\nB2\nc\n");
  check("a\nb\nc\n", [edit(1, [], ["x"])], "a\nx\nb\nc\n");
  check("a\nb\nc\n", [edit(0, ["a", "b"], [])], "c\n");
  check("a\nb\nc\nd\n", [edit(0, ["a"], ["1"]), edit(2, ["c"], [])], "1\nb\nd\n");
});

test("the end of the text keeps its line ending, or gets the one that is asked for", () => {
  check("a\nb\n", [edit(1, ["b"], ["B"])], "a\nB\n");
  check("a\nb", [edit(1, ["b"], ["B"])], "a\nB");
  check("a\nb", [edit(1, ["b"], ["B"], true)], "a\nB\n");
  check("a\nb\n", [edit(1, ["b"], ["B"], false)], "a\nB");
  check("a\nb\n", [edit(2, [], ["c"])], "a\nb\nc\n");
  check("a\nb", [edit(2, [], ["c"])], "a\nb\nc");
  check("a\nb\n", [edit(1, ["b"], [])], "a\n");
  check("a\nb", [edit(1, ["b"], [])], "a");
  check("a\n", [edit(0, ["a"], [])], "");
  check("", [edit(0, [], ["a"], true)], "a\n");
  check("", [edit(0, [], ["a"])], "a");
  check("a", [edit(0, ["a"], ["b", "c"])], "b\nc");
});

test("the document's own line ending is used", () => {
  check("a\r\nb\r\n", [edit(0, ["a"], ["x", "y"])], "x\r\ny\r\nb\r\n");
  check("a\r\nb", [edit(1, ["b"], ["x", "y"])], "a\r\nx\r\ny");
});

test("what was made for another text is refused as a whole", () => {
  refused("a\nb\n", [edit(0, ["a"], ["x"])], /version/, { version: 6 });
  refused("a\nb\n", [edit(0, ["a"], ["x"])], /not the one/, { hash: hashText("a\nB\n") });
  refused("a\nb\n", [edit(0, ["a"], ["x"]), edit(1, ["B"], ["y"])], /line 2 is not/);
  refused("a\nb\n", [edit(1, ["b", "c"], ["x"])], /line 3 does not exist/);
  refused("a\nb\n", [edit(1, ["b"], ["x"]), edit(0, ["a"], ["y"])], /overlap/);
  refused("a\nb\n", [edit(0, ["a"], ["x\ny"])], /line ending/);
});

test("the hash is of the text with LF and without BOM", () => {
  assert.equal(hashText("\uFEFFa\r\nb\r\n"), hashText("a\nb\n"));
  assert.notEqual(hashText("a\nb"), hashText("a\nb\n"));
  assert.equal(hashText(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});
