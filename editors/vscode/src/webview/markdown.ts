// Reads the Markdown that models write into blocks. Must never make markup: the blocks are data, and
// what is not understood stays text. Written here because a library would bring HTML with it.

/** A piece of a line. */
export type Inline =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "em" | "del"; children: Inline[] }
  | { kind: "link"; href: string; children: Inline[] };

/** A block and the source it was read from; equal sources are equal blocks. */
export type Block = { source: string } & (
  | { kind: "heading"; level: number; children: Inline[] }
  | { kind: "paragraph"; children: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "quote"; children: Block[] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" }
);

/** Deeper nesting than this is shown as text: hostile input must not exhaust the stack. */
const DEEPEST = 8;

const FENCE = /^( {0,3})(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(\s+)(.*)$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const DIVIDER = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** All blocks of a text. */
export function parse(text: string, depth = 0): Block[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    if ((lines[at] ?? "").trim() === "") {
      at += 1;
      continue;
    }
    const [block, next] = depth < DEEPEST ? one(lines, at, depth) : paragraph(lines, at, true);
    blocks.push({ ...block, source: lines.slice(at, next).join("\n") });
    at = next;
  }
  return blocks;
}

type Bare<B> = B extends unknown ? Omit<B, "source"> : never;
type Read = [Bare<Block>, number];

function one(lines: string[], at: number, depth: number): Read {
  const line = lines[at] ?? "";
  const fence = FENCE.exec(line);
  if (fence !== null) {
    return code(lines, at, fence);
  }
  const heading = HEADING.exec(line);
  if (heading !== null) {
    return [{ kind: "heading", level: heading[1]?.length ?? 1, children: inline(heading[2] ?? "") }, at + 1];
  }
  if (RULE.test(line)) {
    return [{ kind: "rule" }, at + 1];
  }
  if (QUOTE.test(line)) {
    return quote(lines, at, depth);
  }
  if (ITEM.test(line)) {
    return list(lines, at, depth);
  }
  if (line.includes("|") && DIVIDER.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
    return table(lines, at);
  }
  return paragraph(lines, at, false);
}

function code(lines: string[], at: number, fence: RegExpExecArray): Read {
  const mark = fence[2] ?? "```";
  const indent = fence[1]?.length ?? 0;
  const body: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? "";
    const close = line.trim();
    if (close.length >= mark.length && close === (mark[0] ?? "`").repeat(close.length)) {
      next += 1;
      break;
    }
    body.push(line.slice(Math.min(indent, line.length - line.trimStart().length)));
  }
  return [{ kind: "code", language: (fence[3] ?? "").trim(), text: body.join("\n") }, next];
}

function quote(lines: string[], at: number, depth: number): Read {
  const inner: string[] = [];
  let next = at;
  for (; next < lines.length; next++) {
    const found = QUOTE.exec(lines[next] ?? "");
    if (found === null) {
      break;
    }
    inner.push(found[1] ?? "");
  }
  return [{ kind: "quote", children: parse(inner.join("\n"), depth + 1) }, next];
}

function list(lines: string[], at: number, depth: number): Read {
  const ordered = /\d/.test(ITEM.exec(lines[at] ?? "")?.[2] ?? "-");
  const items: Block[][] = [];
  let start = 1;
  let next = at;
  while (next < lines.length) {
    const found = ITEM.exec(lines[next] ?? "");
    if (found === null || /\d/.test(found[2] ?? "") !== ordered) {
      break;
    }
    if (items.length === 0 && ordered) {
      start = Number.parseInt(found[2] ?? "1", 10);
    }
    const indent = (found[1]?.length ?? 0) + (found[2]?.length ?? 1) + Math.min(found[3]?.length ?? 1, 4);
    const [inner, after] = itemLines(lines, next, indent, found[4] ?? "");
    items.push(parse(inner.join("\n"), depth + 1));
    next = after;
  }
  return [{ kind: "list", ordered, start, items }, next];
}

/** The lines of one item: its first, and those that are indented under it or run on. */
function itemLines(lines: string[], at: number, indent: number, first: string): [string[], number] {
  const inner = [first];
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? "";
    const blank = line.trim() === "";
    const deep = line.length - line.trimStart().length >= Math.min(indent, 2);
    if (blank) {
      const after = lines[next + 1] ?? "";
      if (after.trim() === "" || after.length - after.trimStart().length < 2) {
        // A blank line ends the item; another item may follow it.
        return [inner, ITEM.test(after) ? next + 1 : next];
      }
      inner.push("");
    } else if (deep) {
      inner.push(line.slice(Math.min(indent, line.length - line.trimStart().length)));
    } else if (interrupts(line)) {
      break;
    } else {
      inner.push(line);
    }
  }
  return [inner, next];
}

function table(lines: string[], at: number): Read {
  const head = cells(lines[at] ?? "");
  const rows: Inline[][][] = [];
  let next = at + 2;
  for (; next < lines.length && (lines[next] ?? "").includes("|"); next++) {
    rows.push(cells(lines[next] ?? ""));
  }
  return [{ kind: "table", head, rows }, next];
}

function cells(line: string): Inline[][] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => inline(cell.trim().replace(/\\\|/g, "|")));
}

/** Does this line end a paragraph? */
function interrupts(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);
}

function paragraph(lines: string[], at: number, plain: boolean): Read {
  const body: string[] = [];
  let next = at;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? "";
    if (line.trim() === "" || (next > at && !plain && interrupts(line))) {
      break;
    }
    body.push(line.trim());
  }
  const text = body.join("\n");
  return [{ kind: "paragraph", children: plain ? [{ kind: "text", text }] : inline(text) }, next];
}

const MARKS = [
  { open: "**", kind: "strong" },
  { open: "__", kind: "strong" },
  { open: "~~", kind: "del" },
  { open: "*", kind: "em" },
  { open: "_", kind: "em" },
] as const;

/** The pieces of a line or paragraph. */
export function inline(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  let plain = "";
  let at = 0;
  const flush = () => {
    if (plain !== "") {
      out.push({ kind: "text", text: plain });
      plain = "";
    }
  };
  while (at < text.length) {
    const found = depth < DEEPEST ? special(text, at, depth) : undefined;
    if (found === undefined) {
      plain += text[at];
      at += 1;
    } else if (typeof found[0] === "string") {
      plain += found[0];
      at = found[1];
    } else {
      flush();
      out.push(found[0]);
      at = found[1];
    }
  }
  flush();
  return out;
}

/** What begins at this place, and where it ends; undefined for an ordinary character. */
function special(text: string, at: number, depth: number): [Inline | string, number] | undefined {
  const char = text[at];
  if (char === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) {
    return [text[at + 1] ?? "", at + 2];
  }
  if (char === "`") {
    const ticks = /^`+/.exec(text.slice(at, at + 20))?.[0] ?? "`";
    const close = text.indexOf(ticks, at + ticks.length);
    return close < 0
      ? [ticks, at + ticks.length]
      : [{ kind: "code", text: text.slice(at + ticks.length, close).trim() }, close + ticks.length];
  }
  if (char === "[" || (char === "!" && text[at + 1] === "[")) {
    return link(text, at, depth);
  }
  for (const { open, kind } of MARKS) {
    if (!text.startsWith(open, at)) {
      continue;
    }
    // `snake_case_name` is no emphasis.
    if (open[0] === "_" && /\w/.test(text[at - 1] ?? "")) {
      continue;
    }
    const start = at + open.length;
    const close = text.indexOf(open, start);
    if (close > start && !/\s/.test(text[start] ?? " ") && !/\s/.test(text[close - 1] ?? " ")) {
      return [{ kind, children: inline(text.slice(start, close), depth + 1) }, close + open.length];
    }
  }
  return undefined;
}

/** A link; an image is shown as its words, because nothing remote is loaded. */
function link(text: string, at: number, depth: number): [Inline | string, number] | undefined {
  const image = text[at] === "!";
  const found = /^\[([^\]\n]{0,500})\]\(\s*<?([^)\s>]{0,2000})>?(?:\s+"[^"\n]*")?\s*\)/.exec(
    text.slice(image ? at + 1 : at, at + 3000),
  );
  if (found === null) {
    return undefined;
  }
  const end = at + found[0].length + (image ? 1 : 0);
  const label = found[1] ?? "";
  const href = found[2] ?? "";
  // Only what a browser opens; everything else (javascript:, command:, file:) stays text.
  return !image && /^https?:\/\//i.test(href)
    ? [{ kind: "link", href, children: inline(label, depth + 1) }, end]
    : [text.slice(at, end), end];
}
