// Draws Markdown blocks, and draws anew only the blocks whose source changed, so that a streamed
// answer stays cheap. Must never load anything a block names.
import { button, el, t } from "./dom.ts";
import { type Block, type Inline, parse } from "./markdown.ts";

/** A text that grows. */
export class Prose {
  readonly element = el("div", { class: "prose" });
  private sources: string[] = [];

  /** Shows this text. */
  show(text: string): void {
    const blocks = parse(text);
    let same = 0;
    while (same < blocks.length && this.sources[same] === blocks[same]?.source) {
      same += 1;
    }
    while (this.element.childNodes.length > same) {
      this.element.lastChild?.remove();
    }
    this.element.append(...blocks.slice(same).map(draw));
    this.sources = blocks.map((block) => block.source);
  }
}

function draw(block: Block): HTMLElement {
  switch (block.kind) {
    case "heading":
      // The panel's own headings are of level 1 and 2.
      return el(
        "h3",
        { class: `h${block.level}`, "aria-level": String(Math.min(block.level + 2, 6)) },
        ...block.children.map(drawInline),
      );
    case "paragraph":
      return el("p", {}, ...block.children.map(drawInline));
    case "code":
      return codeBlock(block.text, block.language);
    case "list": {
      const items = block.items.map((item) => el("li", {}, ...item.map(draw)));
      return block.ordered ? el("ol", { start: String(block.start) }, ...items) : el("ul", {}, ...items);
    }
    case "quote":
      return el("blockquote", {}, ...block.children.map(draw));
    case "table":
      return el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...block.head.map((cell) => el("th", {}, ...cell.map(drawInline))))),
        el(
          "tbody",
          {},
          ...block.rows.map((row) =>
            el("tr", {}, ...row.map((cell) => el("td", {}, ...cell.map(drawInline)))),
          ),
        ),
      );
    case "rule":
      return el("hr");
  }
}

function drawInline(piece: Inline): Node {
  switch (piece.kind) {
    case "text":
      return document.createTextNode(piece.text);
    case "code":
      return el("code", {}, piece.text);
    case "strong":
      return el("strong", {}, ...piece.children.map(drawInline));
    case "em":
      return el("em", {}, ...piece.children.map(drawInline));
    case "del":
      return el("del", {}, ...piece.children.map(drawInline));
    case "link":
      // The title shows where it really goes, whatever its words say.
      return el("a", { href: piece.href, title: piece.href }, ...piece.children.map(drawInline));
  }
}

/** Code with a button that copies it. */
export function codeBlock(text: string, language: string): HTMLElement {
  const copy = button(t("copy"), () => void navigator.clipboard.writeText(text), { class: "copy" });
  return el(
    "div",
    { class: "code" },
    el("div", { class: "code-head" }, el("span", {}, language), copy),
    el("pre", { tabindex: "0" }, el("code", {}, text)),
  );
}
