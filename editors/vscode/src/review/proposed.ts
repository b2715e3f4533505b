// The text as it would be: the right side of the diff editor. Must never be written anywhere.
import * as vscode from "vscode";
import type { AskQueue } from "../model/asks.ts";
import { permissionOf } from "../model/asks.ts";
import type { Disposable } from "../model/signal.ts";
import type { Diff } from "../protocol.ts";
import { type Proposals, uriOf } from "./proposals.ts";

/** Scheme of documents that show a proposal's result. */
export const PROPOSED = "toolgate-proposed";

/** Serves proposed texts and opens the diff editor on them. */
export class ProposedTexts implements vscode.TextDocumentContentProvider, Disposable {
  private readonly news = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.news.event;
  private readonly subscriptions: Disposable[];
  private readonly shown = new Map<string, vscode.Uri>();

  constructor(
    private readonly asks: AskQueue,
    private readonly proposals: Proposals,
  ) {
    this.subscriptions = [
      this.news,
      vscode.workspace.registerTextDocumentContentProvider(PROPOSED, this),
      proposals.changed.on(() => {
        for (const uri of this.shown.values()) {
          this.news.fire(uri);
        }
      }),
      asks.changed.on(() => void this.closeAnswered()),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** The prompt that a proposed text belongs to. */
  static askOf(uri: vscode.Uri | undefined): string | undefined {
    return uri?.scheme === PROPOSED ? uri.query : undefined;
  }

  /** Opens the diff between what is there and what would be. */
  async show(askId: string): Promise<void> {
    const diff = this.diffOf(askId);
    if (diff === undefined) {
      return;
    }
    const real = uriOf(diff);
    const right = vscode.Uri.from({ scheme: PROPOSED, path: real.path, query: askId });
    const left = diff.creates ? vscode.Uri.from({ scheme: PROPOSED, path: real.path, query: "" }) : real;
    this.shown.set(askId, right);
    const title = vscode.l10n.t("{0}: proposed change", real.path.split("/").at(-1) ?? "");
    await vscode.commands.executeCommand("vscode.diff", left, right, title, { preview: true });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const diff = this.diffOf(uri.query);
    if (diff === undefined) {
      return "";
    }
    if (diff.creates) {
      return diff.hunks.flatMap((hunk) => hunk.newLines).join("\n");
    }
    const document = await vscode.workspace.openTextDocument(uriOf(diff));
    const lines = document.getText().split(/\r\n|\n/);
    const proposals = [...this.proposals.ofAsk(uri.query)].sort((a, b) => b.place.line - a.place.line);
    for (const { place, hunk, decision } of proposals) {
      if (!place.conflict && decision !== "reject") {
        lines.splice(place.line, hunk.oldLines.length, ...hunk.newLines);
      }
    }
    return lines.join("\n");
  }

  private diffOf(askId: string): Diff | undefined {
    const ask = this.asks.get(askId);
    const payload = ask === undefined ? undefined : permissionOf(ask.opened.ask)?.content.payload;
    return payload?.kind === "diff" ? payload : undefined;
  }

  /** A proposal that was answered is no proposal: its diff would show an empty side. */
  private async closeAnswered(): Promise<void> {
    for (const askId of [...this.shown.keys()]) {
      if (this.asks.get(askId) === undefined) {
        this.shown.delete(askId);
        const tabs = vscode.window.tabGroups.all
          .flatMap((group) => group.tabs)
          .filter(
            (tab) =>
              tab.input instanceof vscode.TabInputTextDiff &&
              ProposedTexts.askOf(tab.input.modified) === askId,
          );
        await vscode.window.tabGroups.close(tabs, true);
      }
    }
  }
}
