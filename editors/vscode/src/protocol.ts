// Generated from protocol/schema.json by `npm run protocol`. Must never be edited by hand.

/**
 * An agent: the session's main model or a nested one.
 */
export type AgentId = string;
/**
 * What is asked.
 */
export type Ask =
  | (PermissionAsk & {
      kind: "permission";
    })
  | {
      callId: CallId;
      kind: "repetition";
      /**
       * What may be answered.
       */
      options: AskOption[];
      /**
       * What happened, for the person.
       */
      text: string;
    }
  | {
      /**
       * The folder.
       */
      folder: string;
      kind: "trust";
      /**
       * What may be answered.
       */
      options: AskOption[];
      /**
       * What it wants to contribute, one line each.
       */
      wants: string[];
    };
/**
 * One tool call. Ours, never the provider's.
 */
export type CallId = string;
/**
 * What kind of call it is; chooses the icon. Names are those of the Agent Client Protocol.
 */
export type CallKind = "read" | "edit" | "delete" | "search" | "execute" | "think" | "fetch" | "other";
/**
 * What an editor draws for a call, a prompt or an outcome.
 */
export type Payload =
  | {
      kind: "text";
      /**
       * The text.
       */
      text: string;
    }
  | {
      kind: "markdown";
      /**
       * The Markdown source.
       */
      text: string;
    }
  | (Diff & {
      kind: "diff";
    })
  | (Terminal & {
      kind: "terminal";
    })
  | {
      /**
       * Absolute paths.
       */
      files: string[];
      kind: "file_list";
      /**
       * How many there are in all, when `files` is cut.
       */
      total: number;
    }
  | {
      kind: "matches";
      /**
       * Hits, grouped by file in the order found.
       */
      matches: Match[];
      /**
       * How many there are in all, when `matches` is cut.
       */
      total: number;
    }
  | {
      kind: "json";
      /**
       * The value.
       */
      value: {
        [k: string]: unknown;
      };
    }
  | {
      /**
       * The bytes in base64; absent when only a reference is sent.
       */
      data?: string | null;
      kind: "image";
      /**
       * For instance `image/png`.
       */
      media_type: string;
    }
  | {
      /**
       * The entries, in the model's order.
       */
      entries: PlanEntry[];
      kind: "plan";
    }
  | {
      kind: "fallback";
      /**
       * The text.
       */
      text: string;
    };
/**
 * One hunk of a proposed or applied edit.
 */
export type HunkId = string;
/**
 * Where a hunk stands (spec: protocol.md, `toolgate/review/*`).
 */
export type HunkState = "proposed" | "accepted" | "rejected" | "conflict" | "applied" | "kept" | "reverted";
/**
 * How far an entry of the plan is.
 */
export type PlanStatus = "pending" | "in_progress" | "completed";
/**
 * What an option means.
 */
export type OptionKind =
  "reject_once" | "reject_always" | "reject_and_stop" | "allow_once" | "allow_session" | "allow_always";
/**
 * One question to the person.
 */
export type AskId = string;
/**
 * How a prompt ended.
 */
export type ClosedBy = "answered" | "withdrawn" | "expired";
/**
 * A session: one transcript and its state.
 */
export type SessionId = string;
/**
 * The states of a call (spec: architecture.md). An ended call is told by `call_settled`.
 */
export type CallState = "arrived" | "fitting" | "hooking" | "asking" | "waiting" | "running" | "stopping";
/**
 * How a call ended.
 */
export type CallStatus = "completed" | "failed" | "refused" | "denied" | "cancelled" | "unknown";
/**
 * The permission mode (spec: permissions.md 1.2).
 */
export type Mode = "default" | "acceptEdits" | "plan" | "dontAsk" | "bypassPermissions";
/**
 * A turn: from a prompt to the model's last word.
 */
export type TurnId = string;
/**
 * What happened in a session.
 */
export type Update =
  | {
      kind: "turn_started";
      turnId: TurnId;
    }
  | {
      kind: "user_message";
      /**
       * The text.
       */
      text: string;
    }
  | {
      kind: "agent_message_delta";
      /**
       * Text to append.
       */
      text: string;
    }
  | {
      kind: "thought_delta";
      /**
       * Text to append.
       */
      text: string;
    }
  | {
      callId: CallId;
      callKind: CallKind;
      kind: "call_started";
      /**
       * The files it is about, absolute.
       */
      locations?: string[];
      /**
       * Made from the input, for the person.
       */
      title: string;
      /**
       * The tool's name as the model wrote it.
       */
      tool: string;
    }
  | {
      callId: CallId;
      kind: "call_state";
      state: CallState;
      /**
       * Why it waits, for the person: "after Edit a.rs", "your approval".
       */
      waits?: string | null;
    }
  | {
      /**
       * Bytes of output so far.
       */
      bytes?: number | null;
      callId: CallId;
      kind: "call_progress";
      /**
       * The newest lines of output, or what it is doing.
       */
      text: string;
    }
  | {
      callId: CallId;
      content: Content;
      /**
       * Milliseconds from start to end; 0 if it never started.
       */
      durationMs: number;
      kind: "call_settled";
      status: CallStatus;
      /**
       * Who decided, if a decision was made.
       */
      why?: Why | null;
    }
  | {
      kind: "tools_changed";
      /**
       * The names, in the order sent to the model.
       */
      tools: string[];
    }
  | {
      callId: CallId;
      diff: Diff;
      kind: "review_changed";
    }
  | {
      /**
       * All entries.
       */
      entries: PlanEntry[];
      kind: "plan";
    }
  | {
      kind: "mode";
      mode: Mode;
    }
  | {
      kind: "model";
      /**
       * The model's name.
       */
      model: string;
    }
  | (Usage & {
      kind: "usage";
    })
  | {
      /**
       * Absolute paths.
       */
      files: string[];
      kind: "files_changed";
    }
  | {
      kind: "notice";
      level: NoticeLevel;
      /**
       * For the person.
       */
      text: string;
    }
  | {
      kind: "turn_ended";
      /**
       * An explanation, where the reason needs one.
       */
      message?: string | null;
      stopReason: StopReason;
      turnId: TurnId;
      usage: Usage;
    };
/**
 * How grave a notice is.
 */
export type NoticeLevel = "info" | "warning" | "error";
/**
 * Why a turn ended.
 */
export type StopReason =
  "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" | "repetition" | "error";
/**
 * One part of a prompt.
 */
export type PromptBlock =
  | {
      /**
       * The text.
       */
      text: string;
      type: "text";
    }
  | {
      /**
       * The bytes in base64.
       */
      data: string;
      /**
       * For instance `image/png`.
       */
      mediaType: string;
      type: "image";
    }
  | {
      type: "resource_link";
      /**
       * Its URI.
       */
      uri: string;
    }
  | {
      /**
       * Last line, counted from 0.
       */
      endLine: number;
      /**
       * First line, counted from 0.
       */
      startLine: number;
      /**
       * The selected text.
       */
      text: string;
      type: "selection";
      /**
       * The document's URI.
       */
      uri: string;
    };
/**
 * What a prompt does to a turn that runs (spec: model-loop.md, "Interruption").
 */
export type When = "next_request" | "steer" | "interrupt" | "after_turn";

/**
 * May this call run?
 */
export interface PermissionAsk {
  callId: CallId;
  callKind: CallKind;
  content: Content;
  /**
   * blake3 of what would run: an answer must repeat it.
   */
  digest: string;
  /**
   * A text that the model wrote about the call, marked as such; never the basis of a decision.
   */
  modelDescription?: string | null;
  /**
   * What may be answered, the safest first.
   */
  options: AskOption[];
  /**
   * Made from the input, plain text, control characters escaped.
   */
  title: string;
  /**
   * The tool's name.
   */
  tool: string;
  traits: Traits;
  why: Why;
}
/**
 * A payload too large for one message (64 KiB): its first part, and where the rest is read.
 */
export interface Content {
  /**
   * Name under which `toolgate/call/output` pages the whole.
   */
  contentRef?: string | null;
  payload: Payload;
  /**
   * Size of the whole in bytes, when `content_ref` is there.
   */
  totalBytes?: number | null;
}
/**
 * A change of one file, as hunks.
 */
export interface Diff {
  /**
   * True when the file does not exist before the change.
   */
  creates: boolean;
  /**
   * The hunks, in order, not overlapping.
   */
  hunks: Hunk[];
  /**
   * Absolute path.
   */
  path: string;
  /**
   * The document's URI when it is open in the editor.
   */
  uri?: string | null;
  /**
   * The LSP version of the open document that the line numbers speak of.
   */
  version?: number | null;
}
/**
 * One group of changed lines.
 */
export interface Hunk {
  hunkId: HunkId;
  /**
   * The lines that come, without line endings.
   */
  newLines: string[];
  /**
   * First line of the new text in the result, counted from 0.
   */
  newStart: number;
  /**
   * The lines that go, without line endings.
   */
  oldLines: string[];
  /**
   * First line that goes, counted from 0. With no old lines: the line before which the new
   * lines are put.
   */
  oldStart: number;
  state: HunkState;
}
/**
 * What a command printed, as the panel shows it.
 */
export interface Terminal {
  /**
   * The command line.
   */
  command: string;
  /**
   * Exit code, once it ended by itself.
   */
  exitCode?: number | null;
  /**
   * Output in order of arrival; escape sequences other than colours are removed.
   */
  output: string;
  /**
   * True when `output` is only a part of it.
   */
  truncated: boolean;
}
/**
 * One search hit.
 */
export interface Match {
  /**
   * Line, counted from 1.
   */
  line: number;
  /**
   * Absolute path.
   */
  path: string;
  /**
   * The line's text.
   */
  text: string;
}
/**
 * One entry of the model's plan.
 */
export interface PlanEntry {
  /**
   * How it is said while it is being done.
   */
  activeForm: string;
  /**
   * What is to be done.
   */
  content: string;
  status: PlanStatus;
}
/**
 * One thing that may be answered.
 */
export interface AskOption {
  /**
   * For the person.
   */
  label: string;
  option: OptionKind;
  /**
   * The rules it would save or use, as written.
   */
  rules?: string[];
}
/**
 * What a call would do (spec: call-lifecycle.md, "Traits").
 */
export interface Traits {
  /**
   * Hard to undo.
   */
  destructive: boolean;
  /**
   * Crosses the machine's boundary.
   */
  openWorld: boolean;
  /**
   * Changes nothing.
   */
  readOnly: boolean;
}
/**
 * Why a call was allowed, asked about or denied.
 */
export interface Why {
  /**
   * The rule that decided, as written.
   */
  rule?: string | null;
  /**
   * Where the rule stands: `flag`, `session`, `built-in`, or a file.
   */
  source?: string | null;
  /**
   * For the person.
   */
  text: string;
}
/**
 * `toolgate/ask/answer`: what the person said.
 */
export interface AskAnswerParams {
  askId: AskId;
  /**
   * The digest that the prompt carried.
   */
  digest: string;
  /**
   * For a diff: the hunks that the person takes or refuses. A hunk that is not named follows
   * the option.
   */
  hunks?: HunkChoice[];
  /**
   * The input as the person changed it.
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * A word to the model.
   */
  message?: string | null;
  option: OptionKind;
}
/**
 * What the person said of one hunk.
 */
export interface HunkChoice {
  /**
   * True: it is written.
   */
  accept: boolean;
  hunkId: HunkId;
}
/**
 * The answer to `toolgate/ask/answer`. A refused answer (other digest, closed prompt) is an
 * LSP error that says who decided.
 */
export interface AskAnswerResult {
  askId: AskId;
}
/**
 * `toolgate/ask/closed`: the prompt is over, everywhere.
 */
export interface AskClosed {
  askId: AskId;
  by: ClosedBy;
  sessionId: SessionId;
}
/**
 * `toolgate/ask/opened`: the person is asked.
 */
export interface AskOpened {
  /**
   * The nested agent that asks, if it is not the main one.
   */
  agentId?: AgentId | null;
  ask: Ask;
  askId: AskId;
  sessionId: SessionId;
}
/**
 * The SDK's view of one call.
 */
export interface CallView {
  callId: CallId;
  /**
   * What is drawn; absent while the call is open.
   */
  content?: Content | null;
  /**
   * The input as the model wrote it.
   */
  input: {
    [k: string]: unknown;
  };
  /**
   * What the model got; absent while the call is open.
   */
  modelText?: string | null;
  /**
   * The structured output, with the field names of the tool's output.
   */
  structured?: {
    [k: string]: unknown;
  };
  /**
   * The tool's name.
   */
  tool: string;
}
/**
 * `toolgate/session/cancelCall`.
 */
export interface CancelCallParams {
  callId: CallId;
  sessionId: SessionId;
}
/**
 * `initializationOptions.toolgate`: what the client can do.
 */
export interface ClientHello {
  /**
   * The protocol's version: 1.
   */
  protocol?: number;
  /**
   * Settings, keys as in the settings reference, nested by dots.
   */
  settings?: {
    [k: string]: unknown;
  };
  ui?: Ui;
}
/**
 * What a client shows and does itself; everything else falls back to plain LSP.
 */
export interface Ui {
  /**
   * Answers `toolgate/diagnostics`.
   */
  diagnostics?: boolean;
  /**
   * Answers `toolgate/document/edit`.
   */
  edit?: boolean;
  /**
   * Shows `toolgate/ask/opened` of kind `permission`.
   */
  permission?: boolean;
  /**
   * Shows the model's questions.
   */
  question?: boolean;
  /**
   * Kinds of renderer payload it draws; others come as `fallback`.
   */
  render?: string[];
  /**
   * Shows hunks in the buffer.
   */
  review?: boolean;
  /**
   * Answers `toolgate/document/save`.
   */
  save?: boolean;
}
/**
 * `toolgate/document/edit` (sidecar → client): a checked edit of an open document, in one
 * tick of the editor, as one undo step. The client refuses unless version and hash are both
 * those of its buffer and every `oldLines` stands where the hunk says.
 */
export interface DocumentEditParams {
  /**
   * What is replaced: in order, not overlapping, all lines of the text before the edit.
   */
  edits: LineEdit[];
  /**
   * SHA-256 (hex) of the text with LF line endings and without BOM, as the mirror has it.
   */
  hash: string;
  /**
   * For the undo list.
   */
  label: string;
  /**
   * The document.
   */
  uri: string;
  /**
   * The LSP version that the sidecar's mirror has.
   */
  version: number;
}
/**
 * Whole lines that are replaced.
 */
export interface LineEdit {
  /**
   * Present when the edit touches the end of the text: whether the text ends with a line
   * ending afterwards.
   */
  finalNewline?: boolean | null;
  /**
   * The lines that come, without endings. The client uses the document's own line ending.
   */
  newLines: string[];
  /**
   * The lines that go, without endings.
   */
  oldLines: string[];
  /**
   * First line that goes, counted from 0; with no old lines, the line before which the new
   * ones are put.
   */
  startLine: number;
}
/**
 * The answer to `toolgate/document/edit`.
 */
export interface DocumentEditResult {
  /**
   * False: nothing was changed.
   */
  applied: boolean;
  /**
   * SHA-256 (hex) of the buffer's text now, LF line endings, without BOM.
   */
  hash: string;
  /**
   * Why nothing was changed.
   */
  reason?: string | null;
  /**
   * The buffer's version now.
   */
  version: number;
}
/**
 * `toolgate/document/save` (sidecar → client).
 */
export interface DocumentSaveParams {
  /**
   * The document.
   */
  uri: string;
}
/**
 * The answer to `toolgate/document/save`.
 */
export interface DocumentSaveResult {
  /**
   * Why not.
   */
  reason?: string | null;
  /**
   * True: it is on disk.
   */
  saved: boolean;
}
/**
 * An answer that says only that the request was done.
 */
export interface Empty {}
/**
 * `toolgate/call/get`.
 */
export interface GetCallParams {
  callId: CallId;
  sessionId: SessionId;
}
/**
 * `toolgate/session/list`.
 */
export interface ListSessionsParams {
  /**
   * Only sessions whose title holds this text.
   */
  query?: string | null;
  /**
   * Only sessions of this folder.
   */
  workspace?: string | null;
}
/**
 * The answer to `toolgate/session/list`, newest first.
 */
export interface ListSessionsResult {
  /**
   * The sessions.
   */
  sessions: SessionSummary[];
}
/**
 * One row of a list of sessions.
 */
export interface SessionSummary {
  /**
   * Working directory.
   */
  cwd: string;
  sessionId: SessionId;
  /**
   * The beginning of the first prompt.
   */
  title: string;
  /**
   * Last change, in RFC 3339.
   */
  updated: string;
}
/**
 * `toolgate/session/load`.
 */
export interface LoadSessionParams {
  sessionId: SessionId;
  /**
   * What the client has already.
   */
  since?: Since | null;
}
/**
 * The last update a client has.
 */
export interface Since {
  /**
   * The sidecar process it came from.
   */
  epoch: string;
  /**
   * Its number.
   */
  seq: number;
}
/**
 * The answer to `toolgate/session/load`.
 */
export interface LoadSessionResult {
  /**
   * Prompts that are open now.
   */
  asks: AskOpened[];
  /**
   * True: more follows; call again with `since` = the last update of this page.
   */
  more: boolean;
  /**
   * True: forget what you have, `updates` tells everything from the start.
   */
  reset: boolean;
  session: SessionInfo;
  /**
   * What the client missed, in order, at most one page.
   */
  updates: SessionUpdate[];
}
/**
 * The session that was made or loaded.
 */
export interface SessionInfo {
  /**
   * Working directory.
   */
  cwd: string;
  /**
   * This process.
   */
  epoch: string;
  mode: Mode;
  /**
   * Model.
   */
  model: string;
  sessionId: SessionId;
  /**
   * The turn that runs, if one does.
   */
  turnId?: TurnId | null;
}
/**
 * `toolgate/session/update`.
 */
export interface SessionUpdate {
  /**
   * The nested agent it is about, if it is not the main one.
   */
  agentId?: AgentId | null;
  /**
   * One sidecar process; another epoch means that `seq` starts again.
   */
  epoch: string;
  /**
   * The call that the nested agent serves.
   */
  parentCallId?: CallId | null;
  /**
   * Grows by one with every update of the session.
   */
  seq: number;
  sessionId: SessionId;
  update: Update;
}
/**
 * Tokens used.
 */
export interface Usage {
  /**
   * Tokens read from the cache.
   */
  cacheReadTokens: number;
  /**
   * Tokens put into the cache.
   */
  cacheWriteTokens: number;
  /**
   * Tokens read that were not in the cache.
   */
  inputTokens: number;
  /**
   * Tokens written.
   */
  outputTokens: number;
}
/**
 * `toolgate/session/new`.
 */
export interface NewSessionParams {
  /**
   * Working directory; the first workspace folder by default.
   */
  cwd?: string | null;
  /**
   * Permission mode; the setting by default.
   */
  mode?: Mode | null;
  /**
   * Model; the setting by default.
   */
  model?: string | null;
}
/**
 * The answer to `toolgate/call/output`.
 */
export interface OutputPage {
  /**
   * Where the next page begins; absent at the end.
   */
  next?: number | null;
  /**
   * The text of the page.
   */
  text: string;
  /**
   * Size of the whole in bytes.
   */
  totalBytes: number;
}
/**
 * `toolgate/call/output`: a page of a large payload.
 */
export interface OutputParams {
  /**
   * The name that came in `contentRef`.
   */
  contentRef: string;
  /**
   * Where to begin, in bytes; moved back to the start of a character.
   */
  offset?: number;
  sessionId: SessionId;
}
/**
 * `toolgate/session/prompt`. Answered at once; the turn's end is the update `turn_ended`.
 */
export interface PromptParams {
  /**
   * What the person says.
   */
  content: PromptBlock[];
  sessionId: SessionId;
  when?: When;
}
/**
 * The answer to `toolgate/session/prompt`.
 */
export interface PromptResult {
  turnId: TurnId;
}
/**
 * The hunks of one call in one file.
 */
export interface Review {
  callId: CallId;
  diff: Diff;
}
/**
 * `toolgate/review/list`: what is proposed or applied.
 */
export interface ReviewListResult {
  /**
   * One entry a call and file.
   */
  reviews: Review[];
}
/**
 * `capabilities.experimental.toolgate`: what the sidecar is.
 */
export interface ServerHello {
  /**
   * This process; `seq` counts within it.
   */
  epoch: string;
  /**
   * The protocol's version: 1.
   */
  protocol: number;
  /**
   * The sidecar's version.
   */
  version: string;
}
/**
 * Names one session: `close`, `delete`, `cancel`.
 */
export interface SessionParams {
  sessionId: SessionId;
}
/**
 * `toolgate/session/setMode`.
 */
export interface SetModeParams {
  mode: Mode;
  sessionId: SessionId;
}
/**
 * `toolgate/session/setModel`.
 */
export interface SetModelParams {
  /**
   * The model's name.
   */
  model: string;
  sessionId: SessionId;
}
/**
 * `toolgate/status`: what a health check shows.
 */
export interface StatusResult {
  /**
   * Documents that the editor has open.
   */
  openDocuments: number;
  /**
   * What is wrong, one line each; empty when all is well.
   */
  problems: string[];
  /**
   * The provider and model, and whether a key was found.
   */
  provider: string;
  /**
   * True when requests can be sent (a key is there, or none is needed).
   */
  ready: boolean;
  /**
   * Sessions that are loaded.
   */
  sessions: number;
  /**
   * The sidecar's version.
   */
  version: string;
}

/** The protocol's version. */
export const PROTOCOL = 1;

/** Every method, who sends it, and whether it is built. */
export const METHODS = {
  "toolgate/ask/answer": {"direction":"client → sidecar, request","built":true},
  "toolgate/ask/closed": {"direction":"sidecar → client, notification","built":true},
  "toolgate/ask/opened": {"direction":"sidecar → client, notification","built":true},
  "toolgate/call/get": {"direction":"client → sidecar, request","built":true},
  "toolgate/call/output": {"direction":"client → sidecar, request","built":true},
  "toolgate/document/edit": {"direction":"sidecar → client, request","built":true},
  "toolgate/document/save": {"direction":"sidecar → client, request","built":true},
  "toolgate/models/list": {"direction":"client → sidecar, request","built":false},
  "toolgate/permissions/explain": {"direction":"client → sidecar, request","built":false},
  "toolgate/prompt/complete": {"direction":"client → sidecar, request","built":false},
  "toolgate/queue/list": {"direction":"client → sidecar, request","built":false},
  "toolgate/queue/remove": {"direction":"client → sidecar, request","built":false},
  "toolgate/review/accept": {"direction":"client → sidecar, request","built":false},
  "toolgate/review/list": {"direction":"client → sidecar, request","built":true},
  "toolgate/review/redo": {"direction":"client → sidecar, request","built":false},
  "toolgate/review/reject": {"direction":"client → sidecar, request","built":false},
  "toolgate/review/undo": {"direction":"client → sidecar, request","built":false},
  "toolgate/session/cancel": {"direction":"client → sidecar, notification","built":true},
  "toolgate/session/cancelCall": {"direction":"client → sidecar, notification","built":true},
  "toolgate/session/close": {"direction":"client → sidecar, request","built":true},
  "toolgate/session/compact": {"direction":"client → sidecar, request","built":false},
  "toolgate/session/delete": {"direction":"client → sidecar, request","built":true},
  "toolgate/session/export": {"direction":"client → sidecar, request","built":false},
  "toolgate/session/fork": {"direction":"client → sidecar, request","built":false},
  "toolgate/session/list": {"direction":"client → sidecar, request","built":true},
  "toolgate/session/load": {"direction":"client → sidecar, request","built":true},
  "toolgate/session/new": {"direction":"client → sidecar, request","built":true},
  "toolgate/session/prompt": {"direction":"client → sidecar, request","built":true},
  "toolgate/session/rename": {"direction":"client → sidecar, request","built":false},
  "toolgate/session/setActiveTools": {"direction":"client → sidecar, request","built":false},
  "toolgate/session/setMode": {"direction":"client → sidecar, request","built":true},
  "toolgate/session/setModel": {"direction":"client → sidecar, request","built":true},
  "toolgate/session/update": {"direction":"sidecar → client, notification","built":true},
  "toolgate/status": {"direction":"client → sidecar, request","built":true},
  "toolgate/task/list": {"direction":"client → sidecar, request","built":false},
  "toolgate/task/stop": {"direction":"client → sidecar, request","built":false},
  "toolgate/tools/set": {"direction":"client → sidecar, request","built":false},
  "toolgate/trust/get": {"direction":"client → sidecar, request","built":false},
  "toolgate/trust/set": {"direction":"client → sidecar, request","built":false},
} as const;
