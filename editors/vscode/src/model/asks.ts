// The prompts that wait for the person, in the order in which they came. Decides when an allowing
// answer may be given (spec: permissions.md, section 5). Must never answer by itself: neither time,
// nor a closed view, nor a lost sidecar is an answer.
import type { Ask, AskAnswerParams, AskOpened, Hunk, OptionKind, PermissionAsk } from "../protocol.ts";
import { Signal } from "./signal.ts";

/** Keys and clicks this soon after a prompt appeared were meant for something else. */
export const GUARD_MS = 500;

/** One prompt that waits. */
export interface OpenAsk {
  opened: AskOpened;
  /** When some surface first showed it. */
  shownAt: number | undefined;
  /** All pages of its content were fetched; true from the start when it came whole. */
  fetched: boolean;
  /** The person saw the end of its content. */
  read: boolean;
  /** An answer is on its way. */
  answering: boolean;
  /** What was said of its hunks so far. */
  decisions: Map<string, boolean>;
}

/** May it be allowed now? If not, why not. */
export type Readiness = "ready" | "not_shown" | "too_soon" | "not_fetched" | "not_read" | "answering";

/** The permission prompt in an ask, if it is one. */
export function permissionOf(ask: Ask): PermissionAsk | undefined {
  return ask.kind === "permission" ? ask : undefined;
}

/** The hunks of a proposed edit, if the ask is one and came whole. */
export function hunksOf(ask: Ask): Hunk[] {
  const content = permissionOf(ask)?.content;
  return content?.payload.kind === "diff" && !content.contentRef ? content.payload.hunks : [];
}

/** True for an option that lets the call run. */
export function allows(option: OptionKind): boolean {
  return option === "allow_once" || option === "allow_session" || option === "allow_always";
}

/** All prompts that wait. */
export class AskQueue {
  /** Fires after anything about any prompt changed. */
  readonly changed = new Signal<void>();
  private readonly open = new Map<string, OpenAsk>();

  /** In the order in which they came. */
  list(): OpenAsk[] {
    return [...this.open.values()];
  }

  /** Looks one up. */
  get(askId: string): OpenAsk | undefined {
    return this.open.get(askId);
  }

  /** A prompt was opened, or announced again: what was said about it stays. */
  add(opened: AskOpened): void {
    this.put(opened);
    this.changed.fire();
  }

  /** Only these are open now (after a load). */
  replace(all: AskOpened[]): void {
    const ids = new Set(all.map((opened) => opened.askId));
    for (const id of [...this.open.keys()]) {
      if (!ids.has(id)) {
        this.open.delete(id);
      }
    }
    for (const opened of all) {
      this.put(opened);
    }
    this.changed.fire();
  }

  /** The sidecar closed it. */
  close(askId: string): void {
    if (this.open.delete(askId)) {
      this.changed.fire();
    }
  }

  /** A surface shows it. */
  shown(askId: string, now: number): void {
    const ask = this.open.get(askId);
    if (ask !== undefined && ask.shownAt === undefined) {
      ask.shownAt = now;
      this.changed.fire();
    }
  }

  /** All pages of its content are here. */
  fetched(askId: string): void {
    this.mark(askId, "fetched");
  }

  /** The person saw the end of its content. */
  read(askId: string): void {
    this.mark(askId, "read");
  }

  /** May an allowing answer be given now? A refusal may be given at any time. */
  readiness(ask: OpenAsk, now: number): Readiness {
    if (ask.answering) {
      return "answering";
    }
    if (ask.shownAt === undefined) {
      return "not_shown";
    }
    if (now - ask.shownAt < GUARD_MS) {
      return "too_soon";
    }
    if (!ask.fetched) {
      return "not_fetched";
    }
    return ask.read ? "ready" : "not_read";
  }

  /** Says yes or no to hunks. True when all of the prompt's hunks are decided. */
  decide(askId: string, hunkIds: string[], accept: boolean): boolean {
    const ask = this.open.get(askId);
    if (ask === undefined || ask.answering) {
      return false;
    }
    const hunks = hunksOf(ask.opened.ask);
    for (const hunk of hunks) {
      if (hunkIds.includes(hunk.hunkId)) {
        ask.decisions.set(hunk.hunkId, accept);
      }
    }
    this.changed.fire();
    return hunks.length > 0 && hunks.every((hunk) => ask.decisions.has(hunk.hunkId));
  }

  /** The answer that the decisions about hunks make. */
  verdict(ask: OpenAsk): AskAnswerParams {
    const hunks = hunksOf(ask.opened.ask).map(({ hunkId }) => ({
      hunkId,
      accept: ask.decisions.get(hunkId) === true,
    }));
    const option = hunks.some((hunk) => hunk.accept) ? "allow_once" : "reject_once";
    return { askId: ask.opened.askId, digest: digestOf(ask.opened.ask), option, hunks };
  }

  /** The answer that one of the prompt's options makes; decisions about single hunks go with it. */
  answer(ask: OpenAsk, option: OptionKind, message: string): AskAnswerParams {
    const params: AskAnswerParams = {
      askId: ask.opened.askId,
      digest: digestOf(ask.opened.ask),
      option,
    };
    if (message.trim() !== "") {
      params.message = message;
    }
    const decided = hunksOf(ask.opened.ask).filter((hunk) => ask.decisions.has(hunk.hunkId));
    if (allows(option) && decided.length > 0) {
      params.hunks = decided.map(({ hunkId }) => ({ hunkId, accept: ask.decisions.get(hunkId) === true }));
    }
    return params;
  }

  /** An answer is on its way, or failed and may be given again. */
  answering(askId: string, on: boolean): void {
    const ask = this.open.get(askId);
    if (ask !== undefined) {
      ask.answering = on;
      this.changed.fire();
    }
  }

  private put(opened: AskOpened): void {
    const before = this.open.get(opened.askId);
    if (before !== undefined && digestOf(before.opened.ask) === digestOf(opened.ask)) {
      before.opened = opened;
      before.answering = false;
      return;
    }
    const whole = !permissionOf(opened.ask)?.content.contentRef;
    this.open.set(opened.askId, {
      opened,
      shownAt: undefined,
      fetched: whole,
      read: false,
      answering: false,
      decisions: new Map(),
    });
  }

  private mark(askId: string, what: "fetched" | "read"): void {
    const ask = this.open.get(askId);
    if (ask !== undefined && !ask[what]) {
      ask[what] = true;
      this.changed.fire();
    }
  }
}

/** Prompts that are no permission carry no digest: nothing would run. */
function digestOf(ask: Ask): string {
  return permissionOf(ask)?.digest ?? "";
}
