// Says what needs the person while the panel is hidden. Must never offer to allow what it does not
// show whole, and never take a dismissed notification for an answer.
import * as vscode from "vscode";
import { type OpenAsk, permissionOf } from "../model/asks.ts";
import type { Disposable } from "../model/signal.ts";
import type { Answers } from "../review/answers.ts";
import type { Session } from "../session/session.ts";

/** A toast shows a command of this length whole. */
const SHORT = 120;

/** What the notifications need of the rest. */
export interface NotificationParts {
  session: Session;
  answers: Answers;
  panelVisible(): boolean;
  focusPanel(): Promise<void>;
  clock(): number;
}

/** Notifications with buttons. */
export class Notifications implements Disposable {
  private readonly told = new Set<string>();
  private readonly subscriptions: Disposable[];

  constructor(private readonly parts: NotificationParts) {
    this.subscriptions = [
      parts.session.asks.changed.on(() => this.asks()),
      parts.session.live.on((update) => {
        if (update.kind === "turn_ended") {
          void this.turnEnded(update.stopReason === "error" ? (update.message ?? "") : undefined);
        }
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  private wanted(): boolean {
    const on = vscode.workspace.getConfiguration("toolgate").get<boolean>("notifications", true);
    return on && !this.parts.panelVisible();
  }

  private asks(): void {
    const open = this.parts.session.asks.list();
    const ids = new Set(open.map((ask) => ask.opened.askId));
    for (const id of [...this.told]) {
      if (!ids.has(id)) {
        this.told.delete(id);
      }
    }
    const first = open[0];
    if (first !== undefined && !this.told.has(first.opened.askId) && this.wanted()) {
      this.told.add(first.opened.askId);
      void this.ask(first);
    }
  }

  private async ask(ask: OpenAsk): Promise<void> {
    const { askId } = ask.opened;
    const permission = permissionOf(ask.opened.ask);
    const command = shortCommand(ask);
    const show = vscode.l10n.t("Show");
    const deny = vscode.l10n.t("Deny");
    const allow = vscode.l10n.t("Allow once");
    const text =
      command === undefined
        ? vscode.l10n.t("Toolgate waits for you: {0}", permission?.title ?? "")
        : vscode.l10n.t("Toolgate asks to run: {0}", command);
    const offered = ask.opened.ask.options.some((option) => option.option === "allow_once");
    const buttons = command !== undefined && offered ? [show, deny, allow] : [show, deny];
    if (command !== undefined) {
      this.parts.session.asks.shown(askId, this.parts.clock());
      this.parts.session.asks.read(askId);
    }
    const chosen = await vscode.window.showWarningMessage(text, ...buttons);
    if (chosen === undefined) {
      return;
    }
    const refused =
      chosen === show
        ? undefined
        : await this.parts.answers.choose(askId, chosen === allow ? "allow_once" : "reject_once");
    if (chosen === show || refused !== undefined) {
      await this.parts.focusPanel();
    }
  }

  private async turnEnded(failure: string | undefined): Promise<void> {
    if (!this.wanted()) {
      return;
    }
    const show = vscode.l10n.t("Show");
    const chosen =
      failure === undefined
        ? await vscode.window.showInformationMessage(vscode.l10n.t("Toolgate is done."), show)
        : await vscode.window.showErrorMessage(vscode.l10n.t("The turn failed: {0}", failure), show);
    if (chosen === show) {
      await this.parts.focusPanel();
    }
  }
}

/** The whole command, if it is one that a toast shows whole and as it is. */
function shortCommand(ask: OpenAsk): string | undefined {
  const content = permissionOf(ask.opened.ask)?.content;
  if (content?.payload.kind !== "terminal" || content.contentRef) {
    return undefined;
  }
  const { command } = content.payload;
  return command.length <= SHORT && /^[!-~](?:[ -~]*[!-~])?$/.test(command) && !/ {2}/.test(command)
    ? command
    : undefined;
}
