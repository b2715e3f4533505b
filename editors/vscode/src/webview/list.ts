// The items of a session, the newest at the bottom. Draws at most a window of them: a long session
// must not make the panel slow. Must never move the view while the person reads further up.
import type { Item } from "../model/items.ts";
import type { PanelString } from "../model/strings.ts";
import { Card } from "./card.ts";
import { button, el, t } from "./dom.ts";
import { Prose } from "./prose.ts";

/** Items drawn at first, and more with each wish. */
const WINDOW = 100;
/** Pixels from the end within which the view follows what comes. */
const FOLLOW_PX = 40;

const ENDS = {
  end_turn: "endCancelled",
  max_tokens: "endMaxTokens",
  max_turn_requests: "endMaxTurnRequests",
  refusal: "endRefusal",
  cancelled: "endCancelled",
  repetition: "endRepetition",
  error: "endError",
} as const satisfies Record<string, PanelString>;

interface Drawn {
  element: HTMLElement;
  prose?: Prose;
  card?: Card;
}

/** The list. */
export class ItemList {
  readonly element = el("main", { class: "items", tabindex: "-1" });
  private readonly earlier = button("", () => this.more(), { class: "earlier" });
  private readonly empty = el("p", { class: "empty" }, t("empty"));
  private readonly items = new Map<string, Item>();
  private readonly drawn = new Map<string, Drawn>();
  private window = WINDOW;
  /** The person reads the newest: what comes keeps the end in view. */
  private following = true;

  constructor() {
    this.element.addEventListener("scroll", () => {
      this.following = this.atEnd();
    });
    // A prompt that opens makes the list smaller; the end must not slide out of view.
    new ResizeObserver(() => this.follow()).observe(this.element);
    setInterval(() => this.tick(), 1000);
    this.reset([]);
  }

  /** Shows these and no others. */
  reset(items: Item[]): void {
    this.items.clear();
    this.drawn.clear();
    this.window = WINDOW;
    this.element.replaceChildren(this.empty, this.earlier);
    for (const item of items) {
      this.items.set(item.id, item);
    }
    this.fill();
    this.following = true;
    this.follow();
  }

  /** Shows new and changed items. */
  update(items: Item[], dropped: string[], appends: { id: string; text: string }[]): void {
    for (const id of dropped) {
      this.items.delete(id);
      this.undraw(id);
    }
    for (const item of items) {
      const known = this.items.has(item.id);
      this.items.set(item.id, item);
      known ? this.redraw(item) : this.draw(item);
    }
    for (const { id, text } of appends) {
      const item = this.items.get(id);
      if (item !== undefined && (item.kind === "agent" || item.kind === "thought")) {
        item.text += text;
        this.redraw(item);
      }
    }
    this.trim();
    this.count();
    this.follow();
  }

  private atEnd(): boolean {
    const { scrollTop, clientHeight, scrollHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < FOLLOW_PX;
  }

  private follow(): void {
    if (this.following) {
      this.element.scrollTop = this.element.scrollHeight;
    }
  }

  private tick(): void {
    const now = Date.now();
    for (const { card } of this.drawn.values()) {
      card?.tick(now);
    }
  }

  /** Draws the newest items that the window has room for. */
  private fill(): void {
    const newest = [...this.items.values()].slice(-this.window);
    for (const item of newest) {
      this.draw(item);
    }
    this.count();
  }

  private more(): void {
    const height = this.element.scrollHeight;
    this.window += WINDOW;
    const wanted = [...this.items.values()].slice(-this.window);
    const first = this.earlier.nextSibling;
    for (const item of wanted) {
      if (!this.drawn.has(item.id)) {
        this.draw(item, first);
      }
    }
    this.count();
    this.element.scrollTop += this.element.scrollHeight - height;
  }

  private trim(): void {
    // What the person asked to see stays; only what came since then pushes old items out.
    while (this.drawn.size > this.window + WINDOW) {
      const oldest = this.drawn.keys().next().value as string;
      this.undraw(oldest);
    }
  }

  private count(): void {
    const hidden = this.items.size - this.drawn.size;
    this.earlier.hidden = hidden <= 0;
    this.earlier.textContent = t("earlier", hidden);
    this.empty.hidden = this.items.size > 0;
  }

  private undraw(id: string): void {
    this.drawn.get(id)?.element.remove();
    this.drawn.delete(id);
  }

  private draw(item: Item, before: ChildNode | null = null): void {
    const drawn = make(item);
    drawn.element.classList.add("item");
    if (item.depth > 0) {
      drawn.element.classList.add("nested");
    }
    this.drawn.set(item.id, drawn);
    this.element.insertBefore(drawn.element, before);
  }

  private redraw(item: Item): void {
    const drawn = this.drawn.get(item.id);
    if (item.kind === "call") {
      drawn?.card?.update(item);
    } else if (item.kind === "agent" || item.kind === "thought") {
      drawn?.prose?.show(item.text);
    }
  }
}

function make(item: Item): Drawn {
  switch (item.kind) {
    case "user":
      return { element: said("user", t("you"), el("div", { class: "verbatim" }, item.text)) };
    case "agent": {
      const prose = new Prose();
      prose.show(item.text);
      return { element: said("agent", t("model"), prose.element), prose };
    }
    case "thought": {
      const prose = new Prose();
      prose.show(item.text);
      const element = el("details", { class: "thought" }, el("summary", {}, t("thinking")), prose.element);
      return { element, prose };
    }
    case "call": {
      const card = new Card(item);
      return { element: card.element, card };
    }
    case "notice":
      return {
        element: el("p", { class: `notice ${item.level}` }, `${SIGNS[item.level] ?? ""} ${item.text}`),
      };
    case "end": {
      const text = [t(ENDS[item.stopReason] ?? "endError"), item.message].filter(Boolean).join(" ");
      return { element: el("p", { class: "notice end" }, text) };
    }
  }
}

const SIGNS = { info: "ⓘ", warning: "⚠", error: "✗" } as const;

function said(who: string, label: string, body: HTMLElement): HTMLElement {
  return el("article", { class: who, "aria-label": label }, el("h2", { class: "who" }, label), body);
}
