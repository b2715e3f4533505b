// The words between the extension and its webview. Must never carry a function or a class: they
// cross as JSON. The webview is not trusted more than the text it shows.
import type { Header, Item } from "../model/items.ts";
import type { Piece } from "../model/reveal.ts";
import type { AskOption, CallKind, Hunk, Mode, OptionKind, Payload, Traits, Why } from "../protocol.ts";

/** How the sidecar is, as the panel shows it. */
export interface Health {
  state: "starting" | "ready" | "restarting" | "failed";
  /** What is wrong, one line each. */
  problems: string[];
}

/** A hunk of a proposal and what was said of it. */
export interface HunkView {
  hunk: Hunk;
  decision: "accept" | "reject" | undefined;
}

/** A prompt as the panel draws it. */
export interface AskView {
  askId: string;
  callKind: CallKind;
  tool: string;
  title: string;
  why: Why | undefined;
  traits: Traits | undefined;
  modelDescription: Piece[] | undefined;
  /** What would happen, written out; a diff comes as `hunks`. */
  content: Piece[];
  hunks: HunkView[];
  path: string | undefined;
  creates: boolean;
  options: AskOption[];
  /** Bytes of the content that are here, and of the whole; undefined when it came whole. */
  loaded: { bytes: number; total: number } | undefined;
  /** Milliseconds until keys and clicks count; 0 when they do. */
  guardMs: number;
  answering: boolean;
  failed: string | undefined;
}

/** Something attached to the next prompt. */
export interface Attachment {
  label: string;
}

/** From the extension. */
export type ToPanel =
  | { type: "reset"; items: Item[]; header: Header }
  | { type: "items"; items: Item[]; dropped: string[]; appends: { id: string; text: string }[] }
  | { type: "header"; header: Header }
  | { type: "health"; health: Health }
  | { type: "asks"; asks: AskView[]; waiting: number }
  | { type: "page"; contentRef: string; text: string; next: number | undefined; total: number }
  | { type: "attachments"; attachments: Attachment[] }
  | { type: "failed"; text: string }
  | { type: "sent" }
  | { type: "focus" };

/** From the webview. */
export type FromPanel =
  | { type: "ready" }
  | { type: "send"; text: string; interrupt: boolean }
  | { type: "stop" }
  | { type: "stopCall"; callId: string }
  | { type: "setMode"; mode: Mode }
  | { type: "shown"; askId: string }
  | { type: "read"; askId: string }
  | { type: "answer"; askId: string; option: OptionKind; message: string }
  | { type: "hunk"; askId: string; hunkId: string; accept: boolean }
  | { type: "review"; askId: string }
  | { type: "page"; contentRef: string; offset: number }
  | { type: "open"; path: string; line: number | undefined }
  | { type: "detach"; index: number }
  | { type: "command"; command: "restart" | "showLog" | "demo" };

/** A payload that is drawn in a card. */
export type CardPayload = Payload;
