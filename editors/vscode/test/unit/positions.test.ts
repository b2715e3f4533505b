// Hunks follow the person's typing. Must never rest on a second copy of the code: the oracle marks
// lines and looks where the marks are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Change, follow, type Place, stands } from "../../src/model/positions.ts";
import type { Hunk } from "../../src/protocol.ts";

const hunk = (oldStart: number, oldLines: string[]): Hunk => ({
  hunkId: "h",
  oldStart,
  oldLines,
  newStart: oldStart,
  newLines: ["new"],
  state: "proposed",
});

function splice(lines: string[], change: Change): string[] {
  const before = lines.slice(0, change.start.line);
  const after = lines.slice(change.end.line + 1);
  const head = (lines[change.start.line] ?? "").slice(0, change.start.character);
  const tail = (lines[change.end.line] ?? "").slice(change.end.character);
  return [...before, ...(head + change.text + tail).split("\n"), ...after];
}

/** Applies changes as one event and tells where the hunk is. */
function check(text: string[], h: Hunk, changes: Change[]): Place {
  const after = changes.reduce(splice, text);
  return follow(h, { line: h.oldStart, conflict: false }, changes, (line) => after[line]);
}

const at = (line: number, character: number, toLine: number, toCharacter: number, text: string): Change => ({
  start: { line, character },
  end: { line: toLine, character: toCharacter },
  text,
});

const TEXT = ["one", "two", "three", "four", "five"];

test("a change above moves a hunk, one below does not", () => {
  assert.deepEqual(check(TEXT, hunk(2, ["three"]), [at(0, 0, 0, 0, "x\ny\n")]), { line: 4, conflict: false });
  assert.deepEqual(check(TEXT, hunk(2, ["three"]), [at(0, 0, 1, 0, "")]), { line: 1, conflict: false });
  assert.deepEqual(check(TEXT, hunk(2, ["three"]), [at(3, 0, 3, 4, "4\n4")]), { line: 2, conflict: false });
  assert.deepEqual(check(TEXT, hunk(2, ["three"]), [at(1, 3, 1, 3, "\n")]), { line: 3, conflict: false });
});

test("a change at the edge moves it when its lines are whole, a change within is a conflict", () => {
  assert.deepEqual(check(TEXT, hunk(2, ["three"]), [at(2, 0, 2, 0, "x\n")]), { line: 3, conflict: false });
  assert.deepEqual(check(TEXT, hunk(2, ["three"]), [at(2, 5, 2, 5, "\nx")]), { line: 2, conflict: false });
  assert.deepEqual(check(TEXT, hunk(2, ["three"]), [at(2, 1, 2, 1, "x")]), { line: 2, conflict: true });
  assert.deepEqual(check(TEXT, hunk(2, ["three", "four"]), [at(2, 5, 3, 0, "")]), {
    line: 2,
    conflict: true,
  });
  assert.deepEqual(check(TEXT, hunk(2, ["three"]), [at(1, 1, 2, 2, "")]), { line: 2, conflict: true });
});

test("a hunk that only adds lines keeps its gap", () => {
  assert.deepEqual(check(TEXT, hunk(2, []), [at(0, 0, 0, 0, "x\n")]), { line: 3, conflict: false });
  assert.deepEqual(check(TEXT, hunk(2, []), [at(2, 0, 2, 0, "x\n")]), { line: 3, conflict: false });
  assert.deepEqual(check(TEXT, hunk(2, []), [at(2, 1, 2, 1, "x\n")]), { line: 2, conflict: false });
  assert.deepEqual(check(TEXT, hunk(2, []), [at(1, 0, 2, 0, "")]), { line: 1, conflict: false });
  assert.deepEqual(check(TEXT, hunk(2, []), [at(1, 3, 2, 0, "")]), { line: 1, conflict: true });
  assert.deepEqual(check(TEXT, hunk(2, []), [at(1, 1, 3, 1, "")]), { line: 2, conflict: true });
});

test("several changes of one event are all taken in", () => {
  const changes = [at(4, 0, 4, 0, "y\n"), at(2, 0, 2, 0, "x\n"), at(0, 0, 0, 0, "a\nb\n")];
  assert.deepEqual(check(TEXT, hunk(2, ["three"]), changes), { line: 5, conflict: false });
});

test("a conflict stays one", () => {
  const place = { line: 2, conflict: true };
  assert.deepEqual(
    follow(hunk(2, ["three"]), place, [at(0, 0, 0, 0, "x\n")], (l) => TEXT[l]),
    place,
  );
});

/** A small generator of numbers that is the same everywhere. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("10,000 random changes: never on lines that are not its own, never a false conflict far away", () => {
  let conflicts = 0;
  for (let seed = 1; seed <= 10_000; seed++) {
    const next = numbers(seed);
    const lines = Array.from({ length: 8 }, (_, i) => `${"abc"[i % 3]}${i}`);
    const first = next(7);
    const h = hunk(first, lines.slice(first, first + 1 + next(2)));
    const from = next(8);
    const to = Math.min(from + next(3), 7);
    const c1 = next(3);
    const c2 = from === to ? Math.max(c1, next(3)) : next(3);
    const change = at(from, c1, to, c2, ["", "x", "\n", "x\n", "x\ny\n", "\nx"][next(6)] ?? "");
    const after = splice(lines, change);
    const place = follow(h, { line: first, conflict: false }, [change], (line) => after[line]);
    if (place.conflict) {
      conflicts += 1;
      const far = to < first || from >= first + h.oldLines.length;
      assert.ok(!far, `seed ${seed}: a change far away became a conflict`);
    } else {
      assert.ok(
        stands(h, place.line, (line) => after[line]),
        `seed ${seed}: not its own lines`,
      );
    }
  }
  assert.ok(conflicts > 500);
});
