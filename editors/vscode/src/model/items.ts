// What the panel shows of a session, one item after the other.
// Must never hold anything but data: items cross into the webview as JSON.
import type {
  CallKind,
  CallState,
  CallStatus,
  Content,
  Mode,
  NoticeLevel,
  PlanEntry,
  StopReason,
  Usage,
  Why,
} from "../protocol.ts";

interface Base {
  /** Unique in the session; never used again. */
  id: string;
  /** How deep the agent is nested that it belongs to; 0 for the main one. */
  depth: number;
}

/** What the person said. */
export interface UserItem extends Base {
  kind: "user";
  text: string;
}

/** What the model said or thought. */
export interface TextItem extends Base {
  kind: "agent" | "thought";
  text: string;
}

/** One tool call. */
export interface CallItem extends Base {
  kind: "call";
  callId: string;
  tool: string;
  callKind: CallKind;
  title: string;
  locations: string[];
  /** Undefined once it is settled. */
  state: CallState | undefined;
  waits: string | undefined;
  /** The newest lines of its output. */
  progress: string;
  bytes: number | undefined;
  /** When it began to run, in milliseconds of this machine's clock. */
  startedAt: number | undefined;
  status: CallStatus | undefined;
  content: Content | undefined;
  why: Why | undefined;
  durationMs: number;
}

/** Something the person should know. */
export interface NoticeItem extends Base {
  kind: "notice";
  level: NoticeLevel;
  text: string;
}

/** The end of a turn that did not simply end. */
export interface EndItem extends Base {
  kind: "end";
  stopReason: StopReason;
  message: string | undefined;
}

/** One item of a session. */
export type Item = UserItem | TextItem | CallItem | NoticeItem | EndItem;

/** What stands above and below the items. */
export interface Header {
  sessionId: string | undefined;
  mode: Mode;
  model: string;
  /** The turn that runs. */
  turnId: string | undefined;
  usage: Usage;
  plan: PlanEntry[];
  changedFiles: string[];
}

/** A header without a session. */
export function emptyHeader(): Header {
  return {
    sessionId: undefined,
    mode: "default",
    model: "",
    turnId: undefined,
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    plan: [],
    changedFiles: [],
  };
}
