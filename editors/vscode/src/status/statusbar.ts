// The status line: how the sidecar is, whether a turn runs, whether a prompt waits. Must never be
// the only place that says something is wrong.
import * as vscode from "vscode";
import type { Disposable } from "../model/signal.ts";
import type { Health } from "../panel/messages.ts";
import type { Session } from "../session/session.ts";

/** The item in the status bar. */
export class StatusBar implements Disposable {
  private readonly item = vscode.window.createStatusBarItem("toolgate", vscode.StatusBarAlignment.Left, 10);
  private readonly subscriptions: Disposable[];

  constructor(
    private readonly session: Session,
    private readonly health: () => Health,
  ) {
    this.item.name = "Toolgate";
    this.item.command = "toolgate.focusPrompt";
    this.subscriptions = [
      this.item,
      session.changed.on((delta) => {
        if (delta === undefined || delta.header) {
          this.draw();
        }
      }),
      session.asks.changed.on(() => this.draw()),
    ];
    this.draw();
    this.item.show();
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** Draws it anew; also the place where `when` clauses learn what is going on. */
  draw(): void {
    const asks = this.session.asks.list().length;
    const running = this.session.projection.header.turnId !== undefined;
    void vscode.commands.executeCommand("setContext", "toolgate.asking", asks > 0);
    void vscode.commands.executeCommand("setContext", "toolgate.running", running);
    const { text, tooltip, warn } = this.words(asks, running);
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: `Toolgate: ${tooltip}` };
    this.item.backgroundColor = warn ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  }

  private words(asks: number, running: boolean): { text: string; tooltip: string; warn: boolean } {
    const { state, problems } = this.health();
    if (state === "failed" || state === "restarting") {
      return { text: "$(error) Toolgate", tooltip: problems.join("\n"), warn: true };
    }
    if (state === "starting") {
      return {
        text: "$(loading~spin) Toolgate",
        tooltip: vscode.l10n.t("The sidecar is starting"),
        warn: false,
      };
    }
    if (asks > 0) {
      const tooltip = vscode.l10n.t("{0} prompts wait for you", asks);
      return { text: `$(bell-dot) Toolgate: ${asks}`, tooltip, warn: true };
    }
    if (running) {
      return { text: "$(sync~spin) Toolgate", tooltip: vscode.l10n.t("A turn is running"), warn: false };
    }
    const tooltip = problems.length > 0 ? problems.join("\n") : vscode.l10n.t("Ask for a change");
    return { text: problems.length > 0 ? "$(warning) Toolgate" : "$(shield) Toolgate", tooltip, warn: false };
  }
}
