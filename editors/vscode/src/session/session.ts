// The one session that the panel shows: makes or loads it, keeps its projection and its prompts,
// speaks for the person. Must never show an update of another session, and never lose one.
import { AskQueue, type OpenAsk } from "../model/asks.ts";
import { Feed } from "../model/feed.ts";
import { type Delta, Projection } from "../model/projection.ts";
import { Signal } from "../model/signal.ts";
import type {
  AskAnswerParams,
  AskClosed,
  AskOpened,
  ListSessionsResult,
  LoadSessionResult,
  Mode,
  OutputPage,
  PromptBlock,
  SessionInfo,
  SessionUpdate,
  StatusResult,
  Update,
  When,
} from "../protocol.ts";

/** How requests reach the sidecar. */
export interface Wire {
  request<R>(method: string, params: object): Promise<R>;
  notify(method: string, params: object): Promise<void>;
}

/** Where the session's name is kept between two starts of the editor. */
export interface Memory {
  get(): string | undefined;
  set(sessionId: string | undefined): void;
}

/** Updates held back while a session is being loaded; more than this and it is loaded again. */
const MOST_HELD = 10_000;

/** The session in the panel. */
export class Session {
  readonly asks = new AskQueue();
  /** Something in the projection changed; undefined: everything. */
  readonly changed = new Signal<Delta | undefined>();
  /** An update was applied for the first time (not by a load). */
  readonly live = new Signal<Update>();
  /** Something failed that the person should read. */
  readonly failed = new Signal<string>();
  projection = new Projection();
  private readonly feed = new Feed();
  private id: string | undefined;
  private held: SessionUpdate[] | undefined;
  private making: Promise<string> | undefined;

  constructor(
    private readonly wire: Wire,
    private readonly memory: Memory,
    private readonly clock: () => number,
  ) {}

  /** The session's name, if there is one. */
  get sessionId(): string | undefined {
    return this.id;
  }

  /** The sidecar is there (again): goes on where it was. */
  async connected(): Promise<void> {
    const id = this.id ?? this.memory.get();
    if (id === undefined) {
      return;
    }
    try {
      await this.load(id);
    } catch (error) {
      this.forget();
      this.failed.fire(reason(error));
    }
  }

  /** `toolgate/session/update`. */
  update(message: SessionUpdate): void {
    if (this.held !== undefined) {
      this.hold(message);
      return;
    }
    if (message.sessionId !== this.id) {
      return;
    }
    const verdict = this.feed.judge(message);
    if (verdict === "apply") {
      this.apply(message, true);
    } else if (verdict === "gap") {
      this.load(message.sessionId).catch((error) => this.failed.fire(reason(error)));
    }
  }

  /** `toolgate/ask/opened`. */
  askOpened(opened: AskOpened): void {
    if (opened.sessionId === this.id || this.held !== undefined) {
      this.asks.add(opened);
    }
  }

  /** `toolgate/ask/closed`. */
  askClosed(closed: AskClosed): void {
    this.asks.close(closed.askId);
  }

  /** Starts anew: the next prompt makes a session. */
  startNew(): void {
    this.forget();
  }

  /** Shows another session. */
  async show(sessionId: string): Promise<void> {
    this.forget();
    await this.load(sessionId);
  }

  /** Gives the model a prompt. */
  async prompt(content: PromptBlock[], when: When): Promise<void> {
    const sessionId = await this.ensure();
    await this.wire.request("toolgate/session/prompt", { sessionId, content, when });
  }

  /** Ends the running turn. */
  async stop(): Promise<void> {
    if (this.id !== undefined) {
      await this.wire.notify("toolgate/session/cancel", { sessionId: this.id });
    }
  }

  /** Ends one call. */
  async stopCall(callId: string): Promise<void> {
    if (this.id !== undefined) {
      await this.wire.notify("toolgate/session/cancelCall", { sessionId: this.id, callId });
    }
  }

  /** Sets the permission mode. */
  async setMode(mode: Mode): Promise<void> {
    const sessionId = await this.ensure();
    await this.wire.request("toolgate/session/setMode", { sessionId, mode });
    this.projection.header.mode = mode;
    this.changed.fire({ items: [], dropped: [], header: true });
  }

  /** Sets the model. */
  async setModel(model: string): Promise<void> {
    const sessionId = await this.ensure();
    await this.wire.request("toolgate/session/setModel", { sessionId, model });
    this.projection.header.model = model;
    this.changed.fire({ items: [], dropped: [], header: true });
  }

  /** Gives an answer. An answer that the sidecar refuses leaves the prompt as the sidecar has it. */
  async answer(ask: OpenAsk, params: AskAnswerParams): Promise<void> {
    this.asks.answering(params.askId, true);
    try {
      await this.wire.request("toolgate/ask/answer", params);
      this.asks.close(params.askId);
    } catch (error) {
      this.asks.answering(ask.opened.askId, false);
      this.failed.fire(reason(error));
    }
  }

  /** A page of a payload that was too large for one message. */
  page(contentRef: string, offset: number): Promise<OutputPage> {
    return this.wire.request("toolgate/call/output", { sessionId: this.id ?? "", contentRef, offset });
  }

  /** The sessions of a folder. */
  list(workspace: string | undefined): Promise<ListSessionsResult> {
    return this.wire.request("toolgate/session/list", workspace === undefined ? {} : { workspace });
  }

  /** What a health check shows. */
  status(): Promise<StatusResult> {
    return this.wire.request("toolgate/status", {});
  }

  private async ensure(): Promise<string> {
    if (this.id !== undefined) {
      return this.id;
    }
    this.making ??= this.make().finally(() => {
      this.making = undefined;
    });
    return this.making;
  }

  private async make(): Promise<string> {
    // Updates of the new session may overtake the answer that tells its name.
    this.held = [];
    try {
      const info = await this.wire.request<SessionInfo>("toolgate/session/new", {});
      this.begin(info);
      return info.sessionId;
    } finally {
      this.release();
    }
  }

  private async load(sessionId: string): Promise<void> {
    this.held ??= [];
    try {
      let since = this.id === sessionId ? this.feed.since : undefined;
      for (;;) {
        const answer = await this.wire.request<LoadSessionResult>("toolgate/session/load", {
          sessionId,
          ...(since === undefined ? {} : { since }),
        });
        if (answer.reset || this.id !== sessionId) {
          this.begin(answer.session);
        }
        for (const update of answer.updates) {
          this.apply(update, false);
        }
        since = this.feed.since;
        if (!answer.more || answer.updates.length === 0) {
          this.projection.describe(answer.session);
          this.asks.replace(answer.asks);
          break;
        }
      }
    } finally {
      this.release();
    }
    this.changed.fire(undefined);
  }

  private begin(info: SessionInfo): void {
    this.id = info.sessionId;
    this.memory.set(info.sessionId);
    this.feed.reset();
    this.projection = new Projection();
    this.projection.describe(info);
    this.changed.fire(undefined);
  }

  private forget(): void {
    this.id = undefined;
    this.memory.set(undefined);
    this.feed.reset();
    this.projection = new Projection();
    this.asks.replace([]);
    this.changed.fire(undefined);
  }

  private hold(message: SessionUpdate): void {
    this.held?.push(message);
    if ((this.held?.length ?? 0) > MOST_HELD) {
      // What is cut here is a gap, and a gap loads the session again.
      this.held?.splice(0, MOST_HELD / 2);
    }
  }

  private release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const message of held) {
      this.update(message);
    }
  }

  private apply(message: SessionUpdate, live: boolean): void {
    const delta = this.projection.apply(message, this.clock());
    this.feed.applied(message);
    if (live) {
      this.changed.fire(delta);
      this.live.fire(message.update);
    }
  }
}

/** What went wrong, for the person. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
