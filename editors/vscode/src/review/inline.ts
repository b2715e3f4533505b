// Draws proposed hunks in the buffer at their place: struck lines, a lens per hunk, the new lines in
// a comment thread beneath (stable API cannot draw multi-line text). Must never change the text.
import * as vscode from "vscode";
import type { AskQueue } from "../model/asks.ts";
import type { Reveal } from "../model/reveal.ts";
import { type Disposable, Signal } from "../model/signal.ts";
import type { Proposal, Proposals } from "./proposals.ts";

/** Lines of a hunk that the thread shows; the diff editor shows all. */
const MOST_LINES = 200;

/** The inline review. */
export class InlineReview implements vscode.CodeLensProvider, Disposable {
  private readonly lensesChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lensesChanged.event;
  /** Which proposal a comment thread belongs to. */
  readonly threads = new Map<string, { thread: vscode.CommentThread; proposal: Proposal; drawn: string }>();
  /** Something was drawn anew. */
  readonly drawn = new Signal<void>();
  private readonly controller = vscode.comments.createCommentController("toolgate-review", "Toolgate");
  private readonly going = decoration("diffEditor.removedTextBackground", "line-through");
  private readonly refused = decoration("diffEditor.unchangedRegionBackground", "none");
  private readonly conflicting = decoration("inputValidation.warningBackground", "none");
  private readonly coming: vscode.TextEditorDecorationType;
  private readonly subscriptions: Disposable[];

  constructor(
    private readonly proposals: Proposals,
    private readonly asks: AskQueue,
    private readonly reveal: Reveal,
    private readonly clock: () => number,
  ) {
    this.coming = vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      borderWidth: "2px 0 0 0",
      borderStyle: "dashed",
      borderColor: new vscode.ThemeColor("diffEditor.insertedTextBorder"),
      backgroundColor: new vscode.ThemeColor("diffEditor.insertedLineBackground"),
    });
    this.subscriptions = [
      this.lensesChanged,
      this.controller,
      this.going,
      this.refused,
      this.conflicting,
      this.coming,
      vscode.languages.registerCodeLensProvider({ scheme: "file" }, this),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
      proposals.changed.on(() => this.draw()),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** The proposal whose thread this is. */
  proposalOf(thread: unknown): Proposal | undefined {
    return [...this.threads.values()].find((entry) => entry.thread === thread)?.proposal;
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    return this.proposals.of(document.uri).flatMap((proposal) => lenses(document, proposal));
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      this.drawEditor(editor);
    }
    this.drawThreads();
    this.lensesChanged.fire();
    this.drawn.fire();
  }

  private drawEditor(editor: vscode.TextEditor): void {
    const going: vscode.Range[] = [];
    const refused: vscode.Range[] = [];
    const conflicting: vscode.Range[] = [];
    const coming: vscode.Range[] = [];
    for (const proposal of this.proposals.of(editor.document.uri)) {
      this.asks.shown(proposal.askId, this.clock());
      const range = rangeOf(editor.document, proposal);
      if (proposal.place.conflict) {
        conflicting.push(range);
      } else if (proposal.decision === "reject") {
        refused.push(range);
      } else if (proposal.hunk.oldLines.length > 0) {
        going.push(range);
      } else {
        coming.push(range);
      }
    }
    editor.setDecorations(this.going, going);
    editor.setDecorations(this.refused, refused);
    editor.setDecorations(this.conflicting, conflicting);
    editor.setDecorations(this.coming, coming);
  }

  private drawThreads(): void {
    const wanted = new Map<string, Proposal>();
    for (const proposal of this.proposals.all()) {
      if (proposal.decision === undefined && !proposal.place.conflict && isOpen(proposal.uri)) {
        wanted.set(`${proposal.askId} ${proposal.hunk.hunkId}`, proposal);
      }
    }
    for (const [key, entry] of this.threads) {
      if (!wanted.has(key)) {
        entry.thread.dispose();
        this.threads.delete(key);
      }
    }
    for (const [key, proposal] of wanted) {
      this.drawThread(key, proposal);
    }
  }

  private drawThread(key: string, proposal: Proposal): void {
    const document = vscode.workspace.textDocuments.find((d) => d.uri.toString() === proposal.uri.toString());
    const line = threadLine(proposal);
    const drawn = `${proposal.uri} ${line}`;
    const known = this.threads.get(key);
    if (document === undefined || known?.drawn === drawn) {
      return;
    }
    const range = new vscode.Range(line, 0, line, 0);
    if (known !== undefined) {
      known.thread.range = range;
      known.drawn = drawn;
      return;
    }
    const thread = this.controller.createCommentThread(proposal.uri, range, [
      this.comment(document, proposal),
    ]);
    thread.canReply = false;
    thread.label = threadLabel(proposal);
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    this.threads.set(key, { thread, proposal, drawn });
  }

  private comment(document: vscode.TextDocument, proposal: Proposal): vscode.Comment {
    const { newLines } = proposal.hunk;
    const shown = newLines.slice(0, MOST_LINES).map((line) => this.reveal.flat(line));
    const body = new vscode.MarkdownString();
    if (newLines.length === 0) {
      body.appendText(vscode.l10n.t("These lines go; nothing comes in their place."));
    } else {
      body.appendCodeblock(shown.join("\n"), document.languageId);
    }
    if (newLines.length > MOST_LINES) {
      const rest = newLines.length - MOST_LINES;
      body.appendText(vscode.l10n.t("{0} more lines: choose Show to see all of them.", rest));
    }
    return { body, mode: vscode.CommentMode.Preview, author: { name: "Toolgate" } };
  }
}

/** Where a hunk's lenses and lines are. */
export function rangeOf(document: vscode.TextDocument, proposal: Proposal): vscode.Range {
  const first = Math.min(proposal.place.line, document.lineCount - 1);
  const last = Math.min(first + Math.max(proposal.hunk.oldLines.length - 1, 0), document.lineCount - 1);
  return new vscode.Range(first, 0, last, document.lineAt(last).text.length);
}

/** The line beneath which the new lines are shown. */
function threadLine(proposal: Proposal): number {
  const { place, hunk } = proposal;
  return Math.max(hunk.oldLines.length > 0 ? place.line + hunk.oldLines.length - 1 : place.line - 1, 0);
}

function threadLabel({ hunk, index, of }: Proposal): string {
  return vscode.l10n.t(
    "Proposed, hunk {0} of {1}: −{2} +{3} lines",
    index,
    of,
    hunk.oldLines.length,
    hunk.newLines.length,
  );
}

function lenses(document: vscode.TextDocument, proposal: Proposal): vscode.CodeLens[] {
  const { start } = rangeOf(document, proposal);
  const range = new vscode.Range(start, start);
  const target = { askId: proposal.askId, hunkId: proposal.hunk.hunkId };
  const lens = (title: string, command: string) =>
    new vscode.CodeLens(range, { title, command: `toolgate.${command}`, arguments: [target] });
  const accept = lens(`$(check) ${vscode.l10n.t("Accept")}`, "acceptHunk");
  const reject = lens(`$(close) ${vscode.l10n.t("Reject")}`, "rejectHunk");
  const show = lens(`$(diff) ${vscode.l10n.t("Show")}`, "showHunk");
  if (proposal.place.conflict) {
    const said = vscode.l10n.t("Conflict: the lines changed, this hunk is not applied");
    return [lens(`$(warning) ${said}`, "showHunk"), reject];
  }
  switch (proposal.decision) {
    case "accept":
      return [
        lens(`$(pass) ${vscode.l10n.t("Accepted, applied with the last decision")}`, "showHunk"),
        reject,
        show,
      ];
    case "reject":
      return [lens(`$(error) ${vscode.l10n.t("Rejected")}`, "showHunk"), accept, show];
    default:
      return [accept, reject, show];
  }
}

function isOpen(uri: vscode.Uri): boolean {
  return vscode.workspace.textDocuments.some((d) => !d.isClosed && d.uri.toString() === uri.toString());
}

function decoration(colour: string, line: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    textDecoration: line,
    backgroundColor: new vscode.ThemeColor(colour),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.modifiedForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
}
