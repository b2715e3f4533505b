// Markdown becomes blocks, hostile Markdown becomes text. Must never look at HTML: there is none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, type Inline, inline, parse } from "../../src/webview/markdown.ts";

function flat(pieces: Inline[]): string {
  return pieces
    .map((piece) => {
      switch (piece.kind) {
        case "text":
          return piece.text;
        case "code":
          return `<code ${piece.text}>`;
        case "link":
          return `<link ${piece.href} ${flat(piece.children)}>`;
        default:
          return `<${piece.kind} ${flat(piece.children)}>`;
      }
    })
    .join("");
}

function shape(block: Block): unknown {
  switch (block.kind) {
    case "heading":
      return [`h${block.level}`, flat(block.children)];
    case "paragraph":
      return flat(block.children);
    case "code":
      return ["code", block.language, block.text];
    case "list":
      return [block.ordered ? "ol" : "ul", ...block.items.map((item) => item.map(shape))];
    case "quote":
      return ["quote", ...block.children.map(shape)];
    case "table":
      return ["table", block.head.map(flat), ...block.rows.map((row) => row.map(flat))];
    case "rule":
      return "rule";
  }
}

function check(text: string, ...blocks: unknown[]): void {
  assert.deepEqual(parse(text).map(shape), blocks);
}

test("blocks", () => {
  check("# Title\n\nOne\ntwo\n\n---\nthree", ["h1", "Title"], "One\ntwo", "rule", "three");
  check("```rust\nfn a() {}\n```\nafter", ["code", "rust", "fn a() {}"], "after");
  check("```\nstill streaming", ["code", "", "still streaming"]);
  check("````\n```\n````", ["code", "", "```"]);
  check("> a\n> b\nc", ["quote", "a\nb"], "c");
  check("| a | b |\n|---|---|\n| 1 | `x` |", ["table", ["a", "b"], ["1", "<code x>"]]);
});

test("lists", () => {
  check("- a\n- b\n  - c\n\ntext", ["ul", ["a"], ["b", ["ul", ["c"]]]], "text");
  check("3. a\n4. b", ["ol", ["a"], ["b"]]);
  check("- a\n\n- b", ["ul", ["a"], ["b"]]);
  check("1. x\n   ```\n   code\n   ```", ["ol", ["x", ["code", "", "code"]]]);
});

test("pieces", () => {
  const said = (text: string, shown: string) => assert.equal(flat(inline(text)), shown);
  said("a **b** *c* ~~d~~ `e*f*`", "a <strong b> <em c> <del d> <code e*f*>");
  said("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4");
  said("\\*no\\*", "*no*");
  said("[docs](https://example.org/a_b)", "<link https://example.org/a_b docs>");
  said("**open", "**open");
});

test("what could act stays text", () => {
  const said = (text: string) => assert.equal(flat(inline(text)), text);
  said("[x](javascript:alert(1))");
  said("[x](command:workbench.action.quit)");
  said("[x](file:///etc/passwd)");
  said("![x](https://example.org/pixel.png)");
  said('<img src=x onerror="alert(1)">');
});

test("hostile nesting and unclosed marks end quickly", () => {
  for (const text of [
    "> ".repeat(5_000),
    "- ".repeat(5_000),
    "*".repeat(50_000),
    "[".repeat(20_000),
    "`".repeat(50_001),
  ]) {
    assert.ok(parse(text).length >= 1);
  }
  assert.ok(inline(`${"**a ".repeat(2_000)}`).length >= 1);
});

test("equal sources are equal blocks: a streamed answer draws only its end anew", () => {
  const before = parse("# A\n\none\n\ntwo");
  const after = parse("# A\n\none\n\ntwo more");
  assert.deepEqual(
    after.map((block, i) => block.source === before[i]?.source),
    [true, true, false],
  );
});
