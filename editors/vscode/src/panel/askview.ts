// Turns a prompt into what the panel draws: everything that was written by somebody else is written
// out for judging first. Must never shorten what would happen.
import { GUARD_MS, hunksOf, type OpenAsk } from "../model/asks.ts";
import type { Piece, Reveal } from "../model/reveal.ts";
import type { Ask, Content, Payload } from "../protocol.ts";
import type { AskView } from "./messages.ts";

/** Pages of a prompt's content, as far as they were fetched. */
export interface Pages {
  text: string;
  bytes: number;
  total: number;
  done: boolean;
  failed: string | undefined;
}

/** Draws prompts for a reader. */
export class AskViews {
  constructor(private readonly reveal: Reveal) {}

  /** One prompt. */
  view(ask: OpenAsk, pages: Pages | undefined, now: number): AskView {
    const { askId } = ask.opened;
    const said = ask.opened.ask;
    const common = {
      askId,
      options: said.options,
      guardMs: ask.shownAt === undefined ? GUARD_MS : Math.max(GUARD_MS - (now - ask.shownAt), 0),
      answering: ask.answering,
      failed: pages?.failed,
      loaded: pages === undefined || pages.done ? undefined : { bytes: pages.bytes, total: pages.total },
    };
    if (said.kind !== "permission") {
      return { ...common, ...other(said, this.reveal) };
    }
    const { payload } = said.content;
    const diff = payload.kind === "diff" ? payload : undefined;
    const hunks = hunksOf(said).map((hunk) => ({ hunk, decision: decisionOf(ask, hunk.hunkId) }));
    return {
      ...common,
      callKind: said.callKind,
      tool: said.tool,
      title: said.title,
      why: said.why,
      traits: said.traits,
      modelDescription: said.modelDescription ? this.reveal.pieces(said.modelDescription) : undefined,
      content: hunks.length > 0 ? [] : this.content(said.content, pages),
      hunks,
      path: diff?.path,
      creates: diff?.creates ?? false,
    };
  }

  private content(content: Content, pages: Pages | undefined): Piece[] {
    return this.reveal.pieces(content.contentRef ? (pages?.text ?? "") : plainText(content.payload));
  }
}

/** A payload as text, whole. */
export function plainText(payload: Payload): string {
  switch (payload.kind) {
    case "text":
    case "markdown":
    case "fallback":
      return payload.text;
    case "terminal":
      return payload.command;
    case "json":
      return JSON.stringify(payload.value, null, 2);
    case "file_list":
      return payload.files.join("\n");
    case "matches":
      return payload.matches.map((match) => `${match.path}:${match.line}: ${match.text}`).join("\n");
    case "plan":
      return payload.entries.map((entry) => `${entry.status}: ${entry.content}`).join("\n");
    case "image":
      return payload.media_type;
    case "diff":
      return payload.hunks
        .map((hunk) =>
          [...hunk.oldLines.map((l) => `-${l}`), ...hunk.newLines.map((l) => `+${l}`)].join("\n"),
        )
        .join("\n");
  }
}

function decisionOf(ask: OpenAsk, hunkId: string): "accept" | "reject" | undefined {
  const said = ask.decisions.get(hunkId);
  return said === undefined ? undefined : said ? "accept" : "reject";
}

function other(ask: Exclude<Ask, { kind: "permission" }>, reveal: Reveal) {
  const trust = ask.kind === "trust";
  return {
    callKind: "other" as const,
    tool: "Toolgate",
    title: trust ? ask.folder : "",
    why: undefined,
    traits: undefined,
    modelDescription: undefined,
    content: reveal.pieces(trust ? ask.wants.join("\n") : ask.text),
    hunks: [],
    path: undefined,
    creates: false,
  };
}
