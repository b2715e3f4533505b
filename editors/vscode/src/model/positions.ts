// Keeps a proposed hunk at its place while the person types (spec: editors.md, "Review inline").
// Must never move a hunk onto lines that are not its own: lines that differ make it a conflict.
import type { Hunk } from "../protocol.ts";
import type { Position } from "./lines.ts";

/** One change of a text: a range of the text before it, and what came. */
export interface Change {
  start: Position;
  end: Position;
  text: string;
}

/** Where a hunk is now. */
export interface Place {
  /** First line that would go; with no old lines, the line before which the new ones come. */
  line: number;
  conflict: boolean;
}

/** A text's line, or undefined past its end. */
export type LineAt = (line: number) => string | undefined;

/** True when every line that would go stands where the hunk is. */
export function stands(hunk: Hunk, line: number, lineAt: LineAt): boolean {
  return line >= 0 && hunk.oldLines.every((old, i) => lineAt(line + i) === old);
}

/**
 * The hunk's place after changes that were made at once: their ranges speak of the text before, do
 * not overlap, and come from the last to the first. `lineAt` reads the text after all of them.
 */
export function follow(hunk: Hunk, place: Place, changes: Change[], lineAt: LineAt): Place {
  if (place.conflict) {
    return place;
  }
  if (hunk.oldLines.length === 0) {
    return changes.reduce((now, change) => (now.conflict ? now : followPoint(now, change)), place);
  }
  const first = place.line;
  const end = first + hunk.oldLines.length;
  let moved = first;
  let touched = false;
  let edge = 0;
  for (const change of changes) {
    if (change.end.line < first) {
      moved += growth(change);
    } else if (change.start.line < end) {
      // It touches the hunk's edge or its lines: only the text can say which.
      touched = true;
      edge += change.start.line < first || change.start.character === 0 ? growth(change) : 0;
    }
  }
  if (!touched) {
    return { line: moved, conflict: false };
  }
  for (const line of [moved + edge, moved]) {
    if (stands(hunk, line, lineAt)) {
      return { line, conflict: false };
    }
  }
  return { line: Math.max(moved, 0), conflict: true };
}

function growth(change: Change): number {
  return change.text.split("\n").length - 1 - (change.end.line - change.start.line);
}

/** A hunk that only adds lines stands before a line; text put in at that line's start moves it. */
function followPoint(place: Place, change: Change): Place {
  const at = place.line;
  const grown = growth(change);
  if (change.end.line < at) {
    return { line: at + grown, conflict: false };
  }
  const before = change.start.line < at || (change.start.line === at && change.start.character === 0);
  const endsAt = change.end.line === at && change.end.character === 0;
  if (before && endsAt && (change.text === "" || change.text.endsWith("\n") || change.start.line < at)) {
    const whole = change.text === "" ? change.start.character === 0 : change.text.endsWith("\n");
    return { line: Math.max(at + grown, 0), conflict: change.start.line < at && !whole };
  }
  if (change.start.line < at) {
    return { line: at, conflict: true };
  }
  return place;
}
