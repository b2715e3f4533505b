// The prompt that waits: what would happen, whole, why it asks, one button an option. Must never
// send an allowing answer in the first half second, before all of it is here, or before its end was
// on the screen; must never take the focus.
import type { Piece } from "../model/reveal.ts";
import { fill } from "../model/strings.ts";
import type { AskView, HunkView } from "../panel/messages.ts";
import type { AskOption } from "../protocol.ts";
import { named } from "./card.ts";
import { button, el, post, t } from "./dom.ts";
import { icon } from "./icons.ts";
import { fileLink, hunkLines } from "./payloads.ts";

/** The prompt at the head of the queue. */
export class AskPanel {
  readonly element = el("section", { class: "ask", "aria-label": t("askRegion"), tabindex: "-1" });
  private readonly live = el("div", { class: "visually-hidden", role: "status", "aria-live": "assertive" });
  private view: AskView | undefined;
  private readUntilEnd = false;
  private guardUntil = 0;
  private message = "";
  private box: HTMLElement | undefined;
  private buttons: { element: HTMLButtonElement; allows: boolean }[] = [];
  private readonly hint = el("p", { class: "hint", role: "status" });

  constructor(private readonly root: HTMLElement) {
    this.element.hidden = true;
    root.append(this.live);
    setInterval(() => this.gate(), 100);
  }

  /** Shows the first prompt and how many wait behind it. */
  show(asks: AskView[], waiting: number): void {
    const view = asks[0];
    const fresh = view?.askId !== this.view?.askId;
    if (view === undefined) {
      this.view = undefined;
      this.live.textContent = "";
      this.element.hidden = true;
      this.element.replaceChildren();
      return;
    }
    const top = fresh ? 0 : (this.box?.scrollTop ?? 0);
    this.view = view;
    if (fresh) {
      this.readUntilEnd = false;
      this.message = "";
      this.live.textContent = t("askTitle", named(view.tool, view.title));
    }
    this.guardUntil = Date.now() + view.guardMs;
    this.element.hidden = false;
    this.draw(view, waiting);
    if (this.box !== undefined) {
      this.box.scrollTop = top;
    }
    if (fresh && this.root.ownerDocument.visibilityState === "visible") {
      // Two frames later it is on the screen: only then does the guard's time begin.
      requestAnimationFrame(() => requestAnimationFrame(() => post({ type: "shown", askId: view.askId })));
    }
    this.gate();
  }

  private draw(view: AskView, waiting: number): void {
    const refocus = this.element.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset.key
      : undefined;
    this.buttons = [];
    this.box = el("div", {
      class: "ask-content",
      tabindex: "0",
      role: "region",
      "aria-label": t("askContent", view.title),
    });
    this.box.addEventListener("scroll", () => this.gate());
    this.box.append(...this.content(view));
    this.element.replaceChildren(
      el("h2", {}, icon(view.callKind), t("askTitle", named(view.tool, view.title))),
      ...facts(view),
      this.box,
      ...saying(view),
      this.refusal(),
      el("div", { class: "options" }, ...view.options.map((option) => this.option(view, option))),
      this.hint,
      waiting > 0 ? el("p", { class: "quiet" }, t("askQueue", waiting)) : "",
    );
    if (refocus !== undefined) {
      this.element.querySelector<HTMLElement>(`[data-key="${CSS.escape(refocus)}"]`)?.focus();
    }
  }

  private content(view: AskView): HTMLElement[] {
    const file =
      view.path === undefined
        ? []
        : [el("p", {}, ...(view.creates ? [`${view.path} (${t("creates")})`] : [fileLink(view.path)]))];
    if (view.hunks.length === 0) {
      return [...file, el("pre", { class: "what" }, ...view.content.map(piece))];
    }
    const review = view.creates
      ? []
      : [button(t("askReview"), () => post({ type: "review", askId: view.askId }), { "data-key": "review" })];
    return [...file, ...review, ...view.hunks.map((hunk, i) => this.hunk(view, hunk, i))];
  }

  private hunk(view: AskView, { hunk, decision }: HunkView, i: number): HTMLElement {
    const title = t("hunkTitle", i + 1, view.hunks.length, hunk.oldStart + 1);
    const conflict = hunk.state === "conflict";
    const said = conflict
      ? t("hunkConflict")
      : t(decision === undefined ? "hunkOpen" : decision === "accept" ? "hunkAccepted" : "hunkRejected");
    const choose = (accept: boolean) => () =>
      post({ type: "hunk", askId: view.askId, hunkId: hunk.hunkId, accept });
    const take = button(t("hunkAccept"), choose(true), {
      "data-key": `accept${i}`,
      "aria-label": `${t("hunkAccept")}: ${title}`,
      "aria-pressed": String(decision === "accept"),
    });
    const leave = button(t("hunkReject"), choose(false), {
      "data-key": `reject${i}`,
      "aria-label": `${t("hunkReject")}: ${title}`,
      "aria-pressed": String(decision === "reject"),
    });
    this.buttons.push({ element: take, allows: true });
    return el(
      "div",
      { class: "ask-hunk" },
      el("p", { class: "quiet" }, `${title} – ${said}`),
      hunkLines(hunk),
      el("p", {}, take, " ", leave),
    );
  }

  private option(view: AskView, option: AskOption): HTMLElement {
    const allows = option.option.startsWith("allow");
    const rules = option.rules ?? [];
    const element = button(
      option.label,
      () => {
        if (!element.disabled) {
          post({ type: "answer", askId: view.askId, option: option.option, message: this.message });
        }
      },
      { class: allows ? "option allow" : "option", "data-key": option.option },
    );
    this.buttons.push({ element, allows });
    // A label that names its rule says it already.
    const saves = rules
      .filter((rule) => !option.label.includes(rule))
      .map((rule) => el("code", {}, fill(t("askSaves"), rule)));
    return el("div", { class: "option-row" }, element, ...saves);
  }

  private refusal(): HTMLElement {
    const input = el("input", {
      type: "text",
      class: "message",
      placeholder: t("askMessage"),
      "aria-label": t("askMessage"),
      "data-key": "message",
    });
    input.value = this.message;
    input.addEventListener("input", () => {
      this.message = input.value;
    });
    return input;
  }

  /** Switches the allowing buttons on when nothing speaks against it, and says what does. */
  private gate(): void {
    const { view, box } = this;
    if (view === undefined || box === undefined || this.element.hidden) {
      return;
    }
    const whole = view.loaded === undefined && view.failed === undefined;
    if (
      whole &&
      !this.readUntilEnd &&
      box.clientHeight > 0 &&
      box.scrollTop + box.clientHeight >= box.scrollHeight - 2
    ) {
      this.readUntilEnd = true;
      post({ type: "read", askId: view.askId });
    }
    const hint = this.hindrance(view);
    this.hint.textContent = hint ?? "";
    for (const { element, allows } of this.buttons) {
      const hunkButton = element.dataset.key?.startsWith("accept");
      const blocked = hint !== undefined && !(hunkButton && hint === t("askReadOn"));
      element.disabled = view.answering || (allows && blocked);
    }
  }

  private hindrance(view: AskView): string | undefined {
    if (view.answering) {
      return t("askAnswering");
    }
    if (view.failed !== undefined) {
      return view.failed;
    }
    if (view.loaded !== undefined) {
      return t("askFetching", view.loaded.bytes, view.loaded.total);
    }
    // The guard is told first: it also holds for hunks, whose prompt need not be read to its end.
    if (Date.now() < this.guardUntil) {
      return t("askTooSoon");
    }
    return this.readUntilEnd ? undefined : t("askReadOn");
  }
}

/** A piece of text, marked where it is not what it looks like. */
function piece({ kind, text }: Piece): Node {
  return kind === "plain" ? document.createTextNode(text) : el("mark", { class: kind }, text);
}

function facts(view: AskView): HTMLElement[] {
  const traits = view.traits;
  const said = [
    traits?.readOnly ? t("askReadOnly") : undefined,
    traits?.destructive ? t("askDestructive") : undefined,
    traits?.openWorld ? t("askOpenWorld") : undefined,
  ].filter((text) => text !== undefined);
  return said.length > 0
    ? [el("p", { class: "traits" }, ...said.map((text) => el("span", { class: "trait" }, text)))]
    : [];
}

function saying(view: AskView): HTMLElement[] {
  const out: HTMLElement[] = [];
  if (view.why !== undefined) {
    out.push(el("p", {}, t("askWhy", view.why.text)));
    if (view.why.rule) {
      out.push(el("p", { class: "quiet" }, t("askRule", view.why.rule, view.why.source ?? "")));
    }
  }
  if (view.modelDescription !== undefined) {
    const [before, after] = t("askModelSays").split("{0}");
    out.push(el("p", { class: "quiet" }, before ?? "", ...view.modelDescription.map(piece), after ?? ""));
  }
  return out;
}
