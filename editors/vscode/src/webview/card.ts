// The card of one call: icon, title, state with the reason it waits, elapsed time, live last lines;
// folded when it is done. Must never fetch output by itself: the person asks page by page.
import type { CallItem } from "../model/items.ts";
import type { PanelString } from "../model/strings.ts";
import type { Content } from "../protocol.ts";
import { button, el, post, t } from "./dom.ts";
import { icon } from "./icons.ts";
import { payload } from "./payloads.ts";

const STATES = {
  arrived: "stateArrived",
  fitting: "stateFitting",
  hooking: "stateHooking",
  asking: "stateAsking",
  waiting: "stateWaiting",
  running: "stateRunning",
  stopping: "stateStopping",
} as const satisfies Record<string, PanelString>;

const STATUSES = {
  completed: "statusCompleted",
  failed: "statusFailed",
  refused: "statusRefused",
  denied: "statusDenied",
  cancelled: "statusCancelled",
  unknown: "statusUnknown",
} as const satisfies Record<string, PanelString>;

/** Marks beside the words, so that colour is not the only sign. */
const MARKS = {
  completed: "✓",
  failed: "✗",
  refused: "⊘",
  denied: "⊘",
  cancelled: "■",
  unknown: "?",
} as const;

/** Pages of output wait here for the card that asked. */
const waiting = new Map<string, (text: string, next: number | undefined, total: number) => void>();

/** A page came from the extension. */
export function pageCame(contentRef: string, text: string, next: number | undefined, total: number): void {
  const take = waiting.get(contentRef);
  waiting.delete(contentRef);
  take?.(text, next, total);
}

/** The title, with the tool's name before it where it does not say it itself. */
export function named(tool: string, title: string): string {
  return title.startsWith(tool) ? title : `${tool}: ${title}`;
}

/** One call. */
export class Card {
  readonly element: HTMLDetailsElement;
  private readonly state = el("span", { class: "state" });
  private readonly time = el("span", { class: "time" });
  private readonly body = el("div", { class: "card-body" });
  private readonly progress = el("pre", { class: "output live", "aria-live": "off" });
  private drawn = false;

  constructor(private item: CallItem) {
    const summary = el(
      "summary",
      {},
      icon(item.callKind),
      el("span", { class: "title", title: item.tool }, named(item.tool, item.title)),
      this.state,
      this.time,
    );
    this.element = el("details", { class: "card" }, summary, this.body);
    this.element.addEventListener("toggle", () => this.fillBody());
    this.update(item);
  }

  /** Shows what changed. */
  update(item: CallItem): void {
    const settles = item.state === undefined && this.element.dataset.state !== "settled";
    this.item = item;
    this.element.dataset.state = item.state ?? "settled";
    this.element.dataset.status = item.status ?? "";
    this.state.textContent = this.words();
    if (item.state !== undefined) {
      this.open();
    } else if (settles) {
      this.element.open = false;
      this.drawn = false;
      this.body.replaceChildren();
    }
    this.tick(Date.now());
  }

  /** Shows how long it has run. */
  tick(now: number): void {
    const { state, startedAt, durationMs } = this.item;
    const ms = state === undefined ? durationMs : startedAt === undefined ? 0 : now - startedAt;
    this.time.textContent =
      ms >= 1000 ? `${Math.floor(ms / 1000)} s` : state === undefined && ms > 0 ? `${ms} ms` : "";
  }

  private words(): string {
    const { state, status, waits } = this.item;
    if (state === undefined) {
      const words = [t(STATUSES[status ?? "unknown"] ?? "statusUnknown"), partly(this.item.content)];
      return status === undefined ? "" : `${MARKS[status] ?? ""} ${words.filter(Boolean).join(", ")}`;
    }
    return waits === undefined ? t(STATES[state] ?? "stateWaiting") : t("waitsFor", waits);
  }

  /** A call that is not settled shows its newest lines. */
  private open(): void {
    if (!this.body.contains(this.progress)) {
      const stop = button(t("cancelCall"), () => post({ type: "stopCall", callId: this.item.callId }), {
        class: "quiet-button",
      });
      this.body.replaceChildren(this.progress, stop);
    }
    this.progress.textContent = this.item.progress;
    this.progress.hidden = this.item.progress === "";
    this.element.open = this.item.state === "running" || this.item.state === "stopping";
  }

  /** A settled call is drawn when it is unfolded, not before. */
  private fillBody(): void {
    const { content, why, state } = this.item;
    if (!this.element.open || state !== undefined || this.drawn || content === undefined) {
      return;
    }
    this.drawn = true;
    const reasons = why === undefined ? undefined : el("p", { class: "quiet" }, reasonLine(why));
    this.body.replaceChildren(payload(content.payload), ...pager(content), ...(reasons ? [reasons] : []));
  }
}

function reasonLine(why: { text: string; rule?: string | null; source?: string | null }): string {
  const rule = why.rule ? ` ${t("askRule", why.rule, why.source ?? "")}` : "";
  return t("cardWhy", `${why.text}${rule}`);
}

/** How many hunks of a change are in the file, where not all of them are. */
function partly(content: Content | undefined): string {
  if (content?.payload.kind !== "diff" || content.contentRef) {
    return "";
  }
  const { hunks } = content.payload;
  const within = hunks.filter(({ state }) => state === "applied" || state === "kept").length;
  return within > 0 && within < hunks.length ? t("hunksIn", within, hunks.length) : "";
}

/** The button that fetches the whole output, a page at a time. */
function pager(content: Content): HTMLElement[] {
  const contentRef = content.contentRef;
  if (!contentRef) {
    return [];
  }
  const output = el("pre", { class: "output", tabindex: "0" });
  output.hidden = true;
  let offset = 0;
  const more = button(t("fullOutput", content.totalBytes ?? 0), () => {
    more.disabled = true;
    waiting.set(contentRef, (text, next, total) => {
      output.hidden = false;
      output.append(text);
      more.disabled = false;
      more.hidden = next === undefined;
      offset = next ?? total;
      more.textContent = t("nextPage", offset, total);
    });
    post({ type: "page", contentRef, offset });
  });
  return [output, more];
}
