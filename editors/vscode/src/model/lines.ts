// Checks and prepares `toolgate/document/edit`: which ranges of a text become what.
// Must never change a text itself, and never be lenient: one line that differs refuses the whole.
import { createHash } from "node:crypto";
import type { DocumentEditParams, LineEdit } from "../protocol.ts";

/** A place in a text; lines and UTF-16 columns counted from 0. */
export interface Position {
  line: number;
  character: number;
}

/** What is put in the place of a range. */
export interface Replacement {
  start: Position;
  end: Position;
  text: string;
}

/** A document as the check needs it. */
export interface Snapshot {
  version: number;
  /** The text with the document's own line endings. */
  text: string;
  eol: "\n" | "\r\n";
}

/** The text with LF line endings and without BOM: what both sides hash. */
export function normalise(text: string): string {
  const bare = text.startsWith("\uFEFF") ? text.slice(1) : text;
  return bare.includes("\r") ? bare.replace(/\r\n?/g, "\n") : bare;
}

/** SHA-256 in hex of the normalised text. */
export function hashText(text: string): string {
  return createHash("sha256").update(normalise(text), "utf8").digest("hex");
}

/** The replacements to make, or why there are none. */
export type Plan = { replacements: Replacement[] } | { reason: string };

/** Checks version, hash and every old line, and turns line edits into ranges. */
export function planEdit(document: Snapshot, params: DocumentEditParams): Plan {
  if (document.version !== params.version) {
    return {
      reason: `the document is at version ${document.version}, the edit was made for ${params.version}`,
    };
  }
  if (hashText(document.text) !== params.hash.toLowerCase()) {
    return { reason: "the document's text is not the one that the edit was made for" };
  }
  const body = normalise(document.text);
  const endsInNewline = body.endsWith("\n");
  const lines = body === "" ? [] : body.split("\n");
  if (endsInNewline) {
    lines.pop();
  }
  const replacements: Replacement[] = [];
  let free = 0;
  for (const edit of params.edits) {
    const reason = fits(lines, edit, free);
    if (reason !== undefined) {
      return { reason };
    }
    free = edit.startLine + edit.oldLines.length;
    replacements.push(replace(lines, endsInNewline, edit, document.eol));
  }
  return { replacements };
}

/** Why an edit does not fit, if it does not. */
function fits(lines: string[], edit: LineEdit, free: number): string | undefined {
  if (edit.startLine < free) {
    return `the edits overlap at line ${edit.startLine + 1}`;
  }
  if (edit.startLine + edit.oldLines.length > lines.length) {
    return `line ${edit.startLine + edit.oldLines.length} does not exist`;
  }
  const wrong = edit.oldLines.findIndex((line, i) => lines[edit.startLine + i] !== line);
  if (wrong >= 0) {
    return `line ${edit.startLine + wrong + 1} is not what the edit expects`;
  }
  if (edit.newLines.some((line) => /[\r\n]/.test(line))) {
    return "a new line holds a line ending";
  }
  return undefined;
}

function replace(lines: string[], endsInNewline: boolean, edit: LineEdit, eol: string): Replacement {
  const start = edit.startLine;
  const end = start + edit.oldLines.length;
  if (end < lines.length) {
    return {
      start: { line: start, character: 0 },
      end: { line: end, character: 0 },
      text: edit.newLines.map((line) => line + eol).join(""),
    };
  }
  // The edit touches the end of the text: what stood before it keeps no line ending of its own.
  const last = lines.length - 1;
  const finish = endsInNewline
    ? { line: lines.length, character: 0 }
    : { line: Math.max(last, 0), character: lines[last]?.length ?? 0 };
  const newline = (edit.finalNewline ?? endsInNewline) ? eol : "";
  const fresh = edit.newLines.join(eol);
  if (start === 0) {
    return {
      start: { line: 0, character: 0 },
      end: finish,
      text: edit.newLines.length > 0 ? fresh + newline : "",
    };
  }
  return {
    start: { line: start - 1, character: lines[start - 1]?.length ?? 0 },
    end: finish,
    text: (edit.newLines.length > 0 ? eol + fresh : "") + newline,
  };
}
