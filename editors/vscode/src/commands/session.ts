// The commands of the session: prompts, modes, models, sessions, health. Must never answer a prompt
// without the guard, and never show more of a session than the sidecar told.
import * as vscode from "vscode";
import type { PromptContext } from "../panel/context.ts";
import type { Mode, OptionKind } from "../protocol.ts";
import type { Answers } from "../review/answers.ts";
import type { Session } from "../session/session.ts";
import type { Sidecar } from "../sidecar/sidecar.ts";

/** What the commands need of the rest. */
export interface SessionParts {
  session: Session;
  answers: Answers;
  context: PromptContext;
  sidecar: Sidecar;
  log: vscode.LogOutputChannel;
  focus(): Promise<void>;
}

/** The session's commands. */
export class SessionCommands {
  constructor(private readonly parts: SessionParts) {}

  /** Each command's name and what it does. */
  table(): Record<string, (argument: unknown) => unknown> {
    const { session, context, sidecar, log, focus } = this.parts;
    return {
      focusPrompt: focus,
      newSession: () => {
        session.startNew();
        return focus();
      },
      openSession: () => this.openSession(),
      stop: () => session.stop(),
      setMode: () => this.setMode(),
      setModel: () => this.setModel(),
      allow: () => this.answer("allow_once"),
      deny: () => this.answer("reject_once"),
      attachSelection: () => (context.addSelection() ? focus() : undefined),
      attachFile: (argument) =>
        context.addFile(argument instanceof vscode.Uri ? argument : undefined) ? focus() : undefined,
      restart: () => sidecar.restart(),
      showLog: () => log.show(),
      status: () => this.status(),
      demo: () => this.demo(),
    };
  }

  /** Answers the prompt at the head of the queue; what hinders it is shown where it can be read. */
  private async answer(option: OptionKind): Promise<void> {
    const ask = this.parts.session.asks.list()[0];
    if (ask === undefined) {
      return;
    }
    const hindrance = await this.parts.answers.choose(ask.opened.askId, option);
    if (hindrance !== undefined) {
      await this.parts.focus();
      void vscode.window.showWarningMessage(hindrance);
    }
  }

  private async setMode(): Promise<void> {
    const { session } = this.parts;
    const modes: (vscode.QuickPickItem & { mode: Mode })[] = [
      { mode: "default", label: vscode.l10n.t("Ask"), detail: vscode.l10n.t("Ask where no rule decides") },
      {
        mode: "acceptEdits",
        label: vscode.l10n.t("Accept edits"),
        detail: vscode.l10n.t("Edits inside the working directories need no question"),
      },
      { mode: "plan", label: vscode.l10n.t("Plan only"), detail: vscode.l10n.t("Edits are denied") },
      {
        mode: "dontAsk",
        label: vscode.l10n.t("Never ask"),
        detail: vscode.l10n.t("What would be asked is denied"),
      },
      {
        mode: "bypassPermissions",
        label: vscode.l10n.t("Bypass permissions"),
        detail: vscode.l10n.t("Nothing is asked but what the floor asks"),
      },
    ];
    const now = session.projection.header.mode;
    const items = modes.map((item) =>
      item.mode === now ? { ...item, description: vscode.l10n.t("now") } : item,
    );
    const chosen = await vscode.window.showQuickPick(items, { title: vscode.l10n.t("Permission mode") });
    if (chosen !== undefined) {
      await session.setMode(chosen.mode);
    }
  }

  private async setModel(): Promise<void> {
    const { session } = this.parts;
    const model = await vscode.window.showInputBox({
      title: vscode.l10n.t("Model, from the next request on"),
      value: session.projection.header.model,
    });
    if (model !== undefined && model.trim() !== "") {
      await session.setModel(model.trim());
    }
  }

  private async openSession(): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const { sessions } = await this.parts.session.list(folder);
    const items = sessions.map((summary) => ({
      label: summary.title || vscode.l10n.t("(no prompt yet)"),
      description: summary.updated,
      detail: summary.cwd,
      id: summary.sessionId,
    }));
    if (items.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t("There is no session of this workspace yet."));
      return;
    }
    const chosen = await vscode.window.showQuickPick(items, {
      title: vscode.l10n.t("Open a session"),
      matchOnDetail: true,
    });
    if (chosen !== undefined) {
      await this.parts.session.show(chosen.id);
      await this.parts.focus();
    }
  }

  private async status(): Promise<void> {
    const { session, sidecar, log } = this.parts;
    const { state, problems } = sidecar.current;
    const lines = [`sidecar: ${state}`, ...problems];
    if (state === "ready") {
      const status = await session.status();
      lines.push(
        `version: ${status.version}`,
        `provider: ${status.provider} (${status.ready ? "ready" : "not ready"})`,
        `open documents: ${status.openDocuments}`,
        `sessions: ${status.sessions}`,
        ...status.problems.map((problem) => `problem: ${problem}`),
      );
    }
    for (const line of lines) {
      log.info(line);
    }
    log.show(true);
  }

  /** The demo needs no key and no network. */
  private demo(): void {
    const file = this.parts.sidecar.binary;
    if (file === undefined) {
      void vscode.window.showErrorMessage(vscode.l10n.t("There is no toolgate binary to run."));
      return;
    }
    const terminal = vscode.window.createTerminal({
      name: "Toolgate demo",
      shellPath: file,
      shellArgs: ["demo"],
    });
    terminal.show();
  }
}
