// Follows every proposed hunk through the person's typing and keeps what was decided about it.
// Must never touch a document: what it knows, it knows from change events.
import * as vscode from "vscode";
import { type AskQueue, hunksOf, type OpenAsk, permissionOf } from "../model/asks.ts";
import { follow, type Place, stands } from "../model/positions.ts";
import { type Disposable, Signal } from "../model/signal.ts";
import type { Diff, Hunk, Update } from "../protocol.ts";

/** One hunk of one prompt, where it is now. */
export interface Proposal {
  askId: string;
  callId: string;
  uri: vscode.Uri;
  hunk: Hunk;
  /** Its number among the prompt's hunks, counted from 1, and how many there are. */
  index: number;
  of: number;
  place: Place;
  decision: "accept" | "reject" | undefined;
}

/** All hunks that are proposed for files that exist. */
export class Proposals implements Disposable {
  readonly changed = new Signal<void>();
  private readonly known = new Map<string, Proposal[]>();
  private readonly subscriptions: Disposable[];

  constructor(private readonly asks: AskQueue) {
    this.subscriptions = [
      asks.changed.on(() => this.refresh()),
      vscode.workspace.onDidChangeTextDocument((event) => this.typed(event)),
      vscode.workspace.onDidOpenTextDocument((document) => this.opened(document)),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** All proposals, prompt by prompt, in the order of their lines. */
  all(): Proposal[] {
    return [...this.known.values()].flat();
  }

  /** Those of one document. */
  of(uri: vscode.Uri): Proposal[] {
    const wanted = uri.toString();
    return this.all().filter((proposal) => proposal.uri.toString() === wanted);
  }

  /** Those of one prompt. */
  ofAsk(askId: string): Proposal[] {
    return this.known.get(askId) ?? [];
  }

  /** The prompt of a proposal. */
  ask(proposal: Proposal): OpenAsk | undefined {
    return this.asks.get(proposal.askId);
  }

  /** The sidecar says how a call's hunks stand now. */
  heard(update: Update): void {
    if (update.kind !== "review_changed") {
      return;
    }
    for (const proposal of this.all().filter((p) => p.callId === update.callId)) {
      const now = update.diff.hunks.find((hunk) => hunk.hunkId === proposal.hunk.hunkId);
      if (now?.state === "conflict") {
        proposal.place = { line: proposal.place.line, conflict: true };
      }
    }
    this.changed.fire();
  }

  private refresh(): void {
    const open = new Map(this.asks.list().map((ask) => [ask.opened.askId, ask]));
    for (const askId of [...this.known.keys()]) {
      if (!open.has(askId)) {
        this.known.delete(askId);
      }
    }
    for (const [askId, ask] of open) {
      const proposals = this.known.get(askId) ?? propose(ask);
      for (const proposal of proposals) {
        const said = ask.decisions.get(proposal.hunk.hunkId);
        proposal.decision = said === undefined ? undefined : said ? "accept" : "reject";
      }
      if (proposals.length > 0) {
        this.known.set(askId, proposals);
      }
    }
    this.changed.fire();
  }

  private typed(event: vscode.TextDocumentChangeEvent): void {
    const proposals = this.of(event.document.uri);
    if (proposals.length === 0 || event.contentChanges.length === 0) {
      return;
    }
    const lineAt = reader(event.document);
    // Ranges speak of the text before the event; from the last to the first they stay true.
    const changes = [...event.contentChanges]
      .sort((a, b) => b.range.start.compareTo(a.range.start))
      .map(({ range, text }) => ({ start: range.start, end: range.end, text: text.replace(/\r\n?/g, "\n") }));
    for (const proposal of proposals) {
      proposal.place = follow(proposal.hunk, proposal.place, changes, lineAt);
    }
    this.changed.fire();
  }

  /** A file that was closed when the prompt came may have other text in the editor than on disk. */
  private opened(document: vscode.TextDocument): void {
    const proposals = this.of(document.uri);
    const lineAt = reader(document);
    for (const proposal of proposals) {
      if (!stands(proposal.hunk, proposal.place.line, lineAt)) {
        proposal.place = { line: proposal.place.line, conflict: true };
      }
    }
    if (proposals.length > 0) {
      this.changed.fire();
    }
  }
}

/** The proposals of a prompt; none when it is no edit or creates the file. */
function propose(ask: OpenAsk): Proposal[] {
  const permission = permissionOf(ask.opened.ask);
  const payload = permission?.content.payload;
  if (permission === undefined || payload?.kind !== "diff" || payload.creates) {
    return [];
  }
  const uri = uriOf(payload);
  const hunks = hunksOf(ask.opened.ask);
  const document = vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri.toString());
  return hunks.map((hunk, i) => ({
    askId: ask.opened.askId,
    callId: permission.callId,
    uri,
    hunk,
    index: i + 1,
    of: hunks.length,
    place: {
      line: hunk.oldStart,
      conflict:
        hunk.state === "conflict" ||
        (document !== undefined && !stands(hunk, hunk.oldStart, reader(document))),
    },
    decision: undefined,
  }));
}

/** The document that a diff speaks of. */
export function uriOf(diff: Diff): vscode.Uri {
  return diff.uri ? vscode.Uri.parse(diff.uri) : vscode.Uri.file(diff.path);
}

function reader(document: vscode.TextDocument): (line: number) => string | undefined {
  return (line) => (line < document.lineCount ? document.lineAt(line).text : undefined);
}
