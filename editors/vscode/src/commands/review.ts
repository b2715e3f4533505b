// The commands of the inline review: what a lens, a thread's button, a key or the palette asks for.
// Must never decide which hunk is meant when that is not clear.
import * as vscode from "vscode";
import { permissionOf } from "../model/asks.ts";
import type { Answers } from "../review/answers.ts";
import { type InlineReview, rangeOf } from "../review/inline.ts";
import type { Proposal, Proposals } from "../review/proposals.ts";
import { ProposedTexts } from "../review/proposed.ts";
import type { Session } from "../session/session.ts";

/** What the commands need of the rest. */
export interface ReviewParts {
  session: Session;
  answers: Answers;
  proposals: Proposals;
  inline: InlineReview;
  texts: ProposedTexts;
}

interface Target {
  askId: string;
  hunkId: string;
}

/** The review's commands. */
export class ReviewCommands {
  constructor(private readonly parts: ReviewParts) {}

  /** Each command's name and what it does. */
  table(): Record<string, (argument: unknown) => Promise<unknown>> {
    return {
      acceptHunk: (argument) => this.hunk(argument, true),
      rejectHunk: (argument) => this.hunk(argument, false),
      acceptFile: (argument) => this.file(argument, true),
      rejectFile: (argument) => this.file(argument, false),
      acceptAll: () => this.all(true),
      rejectAll: () => this.all(false),
      nextHunk: () => this.go(1),
      previousHunk: () => this.go(-1),
      showHunk: (argument) => this.show(argument),
    };
  }

  /** Shows a prompt's hunks in the file, the first one in the middle. */
  async review(askId: string): Promise<void> {
    const first = this.parts.proposals.ofAsk(askId)[0];
    if (first !== undefined) {
      return reveal(first);
    }
    return this.parts.texts.show(askId);
  }

  private async hunk(argument: unknown, accept: boolean): Promise<void> {
    const target = this.target(argument);
    if (target === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("The cursor is in no proposed hunk."));
      return;
    }
    await this.say(this.parts.answers.hunks(target.askId, [target.hunkId], accept));
  }

  private async file(argument: unknown, accept: boolean): Promise<void> {
    const uri = argument instanceof vscode.Uri ? argument : activeUri();
    const askId = ProposedTexts.askOf(uri);
    const asks =
      askId !== undefined ? [askId] : uri === undefined ? [] : this.asksOf(this.parts.proposals.of(uri));
    for (const id of asks) {
      await this.whole(id, accept);
    }
  }

  private async all(accept: boolean): Promise<void> {
    for (const ask of this.parts.session.asks.list()) {
      if (permissionOf(ask.opened.ask)?.content.payload.kind === "diff") {
        await this.whole(ask.opened.askId, accept);
      }
    }
  }

  /** Decides every hunk of a prompt that was not decided yet. */
  private async whole(askId: string, accept: boolean): Promise<void> {
    const ask = this.parts.session.asks.get(askId);
    const payload = ask === undefined ? undefined : permissionOf(ask.opened.ask)?.content.payload;
    if (ask === undefined || payload?.kind !== "diff") {
      return;
    }
    const open = payload.hunks.filter((hunk) => !ask.decisions.has(hunk.hunkId)).map((hunk) => hunk.hunkId);
    await this.say(this.parts.answers.hunks(askId, open, accept));
  }

  private async go(step: 1 | -1): Promise<void> {
    const open = this.parts.proposals.all().filter((proposal) => proposal.decision === undefined);
    if (open.length === 0) {
      return;
    }
    const editor = vscode.window.activeTextEditor;
    const here = open.filter((proposal) => proposal.uri.toString() === editor?.document.uri.toString());
    const line = editor?.selection.active.line ?? -1;
    const next =
      step > 0
        ? here.find((proposal) => proposal.place.line > line)
        : here.filter((proposal) => proposal.place.line < line).at(-1);
    const round = step > 0 ? open[0] : open.at(-1);
    const target = next ?? round;
    if (target !== undefined) {
      await reveal(target);
    }
  }

  private async show(argument: unknown): Promise<void> {
    const target = this.target(argument);
    const uri = activeUri();
    const askId = target?.askId ?? (uri === undefined ? undefined : this.parts.proposals.of(uri)[0]?.askId);
    if (askId !== undefined) {
      this.parts.session.asks.shown(askId, Date.now());
      await this.parts.texts.show(askId);
    }
  }

  /** The hunk that a lens, a thread or the cursor names. */
  private target(argument: unknown): Target | undefined {
    const named = argument as Partial<Target> | undefined;
    if (typeof named?.askId === "string" && typeof named.hunkId === "string") {
      return { askId: named.askId, hunkId: named.hunkId };
    }
    const threaded = this.parts.inline.proposalOf(argument);
    if (threaded !== undefined) {
      return { askId: threaded.askId, hunkId: threaded.hunk.hunkId };
    }
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) {
      return undefined;
    }
    const cursor = editor.selection.active;
    const under = this.parts.proposals
      .of(editor.document.uri)
      .find((proposal) => rangeOf(editor.document, proposal).contains(new vscode.Position(cursor.line, 0)));
    return under === undefined ? undefined : { askId: under.askId, hunkId: under.hunk.hunkId };
  }

  private asksOf(proposals: Proposal[]): string[] {
    return [...new Set(proposals.map((proposal) => proposal.askId))];
  }

  private async say(hindrance: Promise<string | undefined>): Promise<void> {
    const said = await hindrance;
    if (said !== undefined) {
      void vscode.window.showWarningMessage(said);
    }
  }
}

/** Opens the file at a hunk. */
async function reveal(proposal: Proposal): Promise<void> {
  const editor = await vscode.window.showTextDocument(proposal.uri, { preserveFocus: false });
  const { start } = rangeOf(editor.document, proposal);
  editor.selection = new vscode.Selection(start, start);
  editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenter);
}

function activeUri(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  if (input instanceof vscode.TabInputTextDiff) {
    return input.modified;
  }
  return vscode.window.activeTextEditor?.document.uri;
}
