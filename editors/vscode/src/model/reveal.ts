// Makes text that somebody else wrote safe to judge: what cannot be seen is written out, what looks
// alike is marked (spec: permissions.md, section 5). Must never drop or shorten anything.

/** A piece of text and how it is drawn. `plain` is the text itself; the others are marks. */
export interface Piece {
  kind: "plain" | "code" | "blanks" | "mixed";
  text: string;
}

/** Blanks in a row that are still drawn as themselves. */
const BLANKS_SHOWN = 3;
/** Blanks at the start of a line that are still drawn as themselves: code is indented. */
const INDENT_SHOWN = 40;
/** Empty lines in a row that are still drawn as themselves. */
const LINES_SHOWN = 1;

/** The scripts a person reads, from the display language: Latin, and those of the language. */
export function scriptsOf(language: string): string[] {
  const parts: Record<string, string[]> = {
    Jpan: ["Hira", "Kana", "Hani"],
    Hans: ["Hani"],
    Hant: ["Hani"],
    Kore: ["Hang", "Hani"],
  };
  let script: string | undefined;
  try {
    script = new Intl.Locale(language).maximize().script;
  } catch {
    // An unknown language has no script of its own: Latin alone is the safe reading.
    script = undefined;
  }
  return [...new Set(["Latn", ...(script === undefined ? [] : (parts[script] ?? [script]))])];
}

/** Writes text out for a reader of these scripts. */
export class Reveal {
  private readonly letters: RegExp;
  private readonly scripts: RegExp[];

  constructor(scripts: string[]) {
    const known = scripts.filter((script) => /^[A-Z][a-z]{3}$/.test(script));
    this.letters = new RegExp(`^(?:${known.map((script) => `\\p{Script=${script}}`).join("|")})$`, "u");
    // Cyrillic and Greek letters are the ones that are taken for Latin ones.
    this.scripts = ["Latn", "Cyrl", "Grek", "Armn", "Cher"].map((s) => new RegExp(`\\p{Script=${s}}`, "u"));
  }

  /** All of the text, in pieces. */
  pieces(text: string): Piece[] {
    const out: Piece[] = [];
    const lines = text.replace(/\r\n/g, "\n").split("\n");
    for (let i = 0; i < lines.length; i++) {
      if (i > 0) {
        push(out, "plain", "\n");
      }
      let empty = 0;
      while (i + empty < lines.length && (lines[i + empty] ?? "").trim() === "" && lines.length > 1) {
        empty += 1;
      }
      if (empty > LINES_SHOWN) {
        push(out, "blanks", `${empty} empty lines`);
        i += empty - 1;
      } else {
        this.line(out, lines[i] ?? "");
      }
    }
    return out;
  }

  /** The text as one string, marks in angle brackets: for places that draw no pieces. */
  flat(text: string): string {
    return this.pieces(text)
      .map((piece) => (piece.kind === "plain" || piece.kind === "mixed" ? piece.text : `⟨${piece.text}⟩`))
      .join("");
  }

  private line(out: Piece[], line: string): void {
    let start = true;
    for (const part of line.match(/[ \t]+|[^ \t]+/gu) ?? []) {
      if (part[0] === " " || part[0] === "\t") {
        const shown = start ? INDENT_SHOWN : BLANKS_SHOWN;
        push(
          out,
          part.length > shown ? "blanks" : "plain",
          part.length > shown ? `${part.length} blanks` : part,
        );
      } else {
        this.word(out, part);
      }
      start = false;
    }
  }

  private word(out: Piece[], word: string): void {
    for (const run of word.match(/[\p{L}\p{M}]+|[^\p{L}\p{M}]+/gu) ?? []) {
      const mixed = this.scripts.filter((script) => script.test(run)).length > 1;
      for (const char of run) {
        if (this.visible(char)) {
          push(out, mixed ? "mixed" : "plain", char);
        } else {
          push(out, "code", codePoint(char));
        }
      }
    }
  }

  private visible(char: string): boolean {
    const code = char.codePointAt(0) ?? 0;
    return (code >= 0x20 && code < 0x7f) || (code > 0x7f && this.letters.test(char));
  }
}

function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Puts plain text to the plain text before it; each mark stays a piece of its own. */
function push(out: Piece[], kind: Piece["kind"], text: string): void {
  const last = out.at(-1);
  if (last !== undefined && last.kind === kind && (kind === "plain" || kind === "mixed")) {
    last.text += text;
  } else {
    out.push({ kind, text });
  }
}
