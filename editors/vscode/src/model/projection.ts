// Turns a session's updates into items and a header. Must never ask anybody anything and never
// throw on an update it does not know: unknown kinds are ignored on both sides.
import type { SessionInfo, SessionUpdate, Update } from "../protocol.ts";
import { type CallItem, emptyHeader, type Header, type Item, type TextItem } from "./items.ts";

/** Items kept; the transcript has the rest. */
export const MOST_ITEMS = 2_000;
/** Characters of live output kept for a running call. */
const MOST_PROGRESS = 8_000;

/** What an update changed. */
export interface Delta {
  /** Items that are new or changed as a whole. */
  items: Item[];
  /** Text that was put to the end of an item. */
  append?: { id: string; text: string };
  /** Ids that fell off the beginning. */
  dropped: string[];
  header: boolean;
}

type Of<K extends Update["kind"]> = Extract<Update, { kind: K }>;

/** A session as it is shown. */
export class Projection {
  readonly header: Header = emptyHeader();
  readonly items = new Map<string, Item>();
  private readonly calls = new Map<string, CallItem>();
  /** The text item that each agent is still writing. */
  private readonly open = new Map<string, TextItem>();
  private count = 0;

  /** Takes what a session's making or loading told. */
  describe(info: SessionInfo): void {
    this.header.sessionId = info.sessionId;
    this.header.mode = info.mode;
    this.header.model = info.model;
    this.header.turnId = info.turnId ?? undefined;
  }

  /** Looks a call up. */
  call(callId: string): CallItem | undefined {
    return this.calls.get(callId);
  }

  /** Applies one update; `now` is this machine's clock in milliseconds. */
  apply(message: SessionUpdate, now: number): Delta {
    const delta: Delta = { items: [], dropped: [], header: false };
    const agent = message.agentId ?? "";
    const depth = message.parentCallId ? (this.calls.get(message.parentCallId)?.depth ?? 0) + 1 : 0;
    this.dispatch(message.update, delta, { agent, depth, now });
    while (this.items.size > MOST_ITEMS) {
      const oldest = this.items.keys().next().value as string;
      const item = this.items.get(oldest);
      this.items.delete(oldest);
      if (item?.kind === "call") {
        this.calls.delete(item.callId);
      }
      delta.dropped.push(oldest);
    }
    return delta;
  }

  private dispatch(update: Update, delta: Delta, at: { agent: string; depth: number; now: number }): void {
    switch (update.kind) {
      case "agent_message_delta":
        return this.text("agent", update.text, delta, at);
      case "thought_delta":
        return this.text("thought", update.text, delta, at);
      case "user_message":
        return this.add({ ...this.next(at), kind: "user", text: update.text }, delta, at.agent);
      case "notice":
        return this.add({ ...this.next(at), kind: "notice", level: update.level, text: update.text }, delta);
      case "call_started":
        return this.callStarted(update, delta, at);
      case "call_state":
      case "call_progress":
      case "call_settled":
        return this.callChanged(update, delta, at.now);
      case "turn_started":
      case "turn_ended":
        return this.turn(update, delta, at);
      default:
        delta.header = this.headline(update);
    }
  }

  private headline(update: Update): boolean {
    switch (update.kind) {
      case "mode":
        this.header.mode = update.mode;
        return true;
      case "model":
        this.header.model = update.model;
        return true;
      case "plan":
        this.header.plan = update.entries;
        return true;
      case "usage":
        this.header.usage = { ...update };
        return true;
      case "files_changed":
        this.header.changedFiles = [...new Set([...this.header.changedFiles, ...update.files])];
        return true;
      default:
        return false;
    }
  }

  private next(at: { depth: number }): { id: string; depth: number } {
    this.count += 1;
    return { id: `i${this.count}`, depth: at.depth };
  }

  private add(item: Item, delta: Delta, agent?: string): void {
    this.items.set(item.id, item);
    delta.items.push(item);
    if (agent !== undefined) {
      this.open.delete(agent);
    }
  }

  private text(
    kind: "agent" | "thought",
    text: string,
    delta: Delta,
    at: { agent: string; depth: number },
  ): void {
    const open = this.open.get(at.agent);
    if (open?.kind === kind && this.items.has(open.id)) {
      open.text += text;
      delta.append = { id: open.id, text };
      return;
    }
    const item: TextItem = { ...this.next(at), kind, text };
    this.add(item, delta);
    this.open.set(at.agent, item);
  }

  private callStarted(update: Of<"call_started">, delta: Delta, at: { agent: string; depth: number }): void {
    const item: CallItem = {
      ...this.next(at),
      kind: "call",
      callId: update.callId,
      tool: update.tool,
      callKind: update.callKind,
      title: update.title,
      locations: update.locations ?? [],
      state: "arrived",
      waits: undefined,
      progress: "",
      bytes: undefined,
      startedAt: undefined,
      status: undefined,
      content: undefined,
      why: undefined,
      durationMs: 0,
    };
    this.calls.set(item.callId, item);
    this.add(item, delta, at.agent);
  }

  private callChanged(
    update: Of<"call_state"> | Of<"call_progress"> | Of<"call_settled">,
    delta: Delta,
    now: number,
  ): void {
    const item = this.calls.get(update.callId);
    if (item === undefined) {
      return;
    }
    if (update.kind === "call_state") {
      item.state = update.state;
      item.waits = update.waits ?? undefined;
      if (update.state === "running") {
        item.startedAt ??= now;
      }
    } else if (update.kind === "call_progress") {
      item.progress = update.text.slice(-MOST_PROGRESS);
      item.bytes = update.bytes ?? undefined;
    } else {
      item.state = undefined;
      item.waits = undefined;
      item.progress = "";
      item.status = update.status;
      item.content = update.content;
      item.why = update.why ?? undefined;
      item.durationMs = update.durationMs;
    }
    delta.items.push(item);
  }

  private turn(
    update: Of<"turn_started"> | Of<"turn_ended">,
    delta: Delta,
    at: { agent: string; depth: number },
  ): void {
    delta.header = true;
    this.open.delete(at.agent);
    if (update.kind === "turn_started") {
      this.header.turnId = update.turnId;
      return;
    }
    this.header.turnId = undefined;
    this.header.usage = { ...update.usage };
    if (update.stopReason !== "end_turn") {
      const message = update.message ?? undefined;
      this.add({ ...this.next(at), kind: "end", stopReason: update.stopReason, message }, delta);
    }
  }
}
