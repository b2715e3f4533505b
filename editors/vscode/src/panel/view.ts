// The panel: a webview that shows the session and takes what the person says. Must never load
// anything from outside the extension, and never take a closed view for an answer.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { type Disposable, Signal } from "../model/signal.ts";
import { PANEL_STRINGS, type PanelString, type PanelStrings } from "../model/strings.ts";
import type { Answers } from "../review/answers.ts";
import { reason, type Session } from "../session/session.ts";
import type { AskViews } from "./askview.ts";
import { Batch } from "./batch.ts";
import type { PromptContext } from "./context.ts";
import type { FromPanel, Health, ToPanel } from "./messages.ts";
import type { AskPages } from "./pages.ts";

/** What the panel needs of the rest. */
export interface PanelParts {
  session: Session;
  answers: Answers;
  views: AskViews;
  pages: AskPages;
  context: PromptContext;
  health(): Health;
  clock(): number;
  /** Shows a prompt's hunks in the file. */
  review(askId: string): Promise<void>;
}

/** Items sent to the webview at a reset; it caps what it draws besides. */
const RESET_ITEMS = 500;

/** The webview view. */
export class Panel implements vscode.WebviewViewProvider, Disposable {
  /** It was shown or hidden. */
  readonly visibility = new Signal<boolean>();
  private view: vscode.WebviewView | undefined;
  private live = false;
  private wantsFocus = false;
  private readonly batch = new Batch((message) => this.post(message));
  private readonly subscriptions: Disposable[];

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly parts: PanelParts,
  ) {
    const { session, pages, context } = parts;
    this.subscriptions = [
      this.batch,
      session.changed.on((delta) =>
        delta === undefined ? this.reset() : this.batch.add(delta, session.projection.header),
      ),
      session.asks.changed.on(() => this.asks()),
      session.failed.on((text) => this.post({ type: "failed", text })),
      pages.changed.on(() => this.asks()),
      context.changed.on(() => this.post({ type: "attachments", attachments: context.list() })),
      vscode.window.registerWebviewViewProvider("toolgate.panel", this, {
        webviewOptions: { retainContextWhenHidden: false },
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** True while the person can see it. */
  get visible(): boolean {
    return this.view?.visible === true;
  }

  /** Tells how the sidecar is. */
  health(): void {
    this.post({ type: "health", health: this.parts.health() });
  }

  /** Shows it and puts the cursor into the prompt. */
  async focus(): Promise<void> {
    this.wantsFocus = true;
    await vscode.commands.executeCommand("toolgate.panel.focus");
    this.giveFocus();
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.live = false;
    view.webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(this.extensionUri, "dist")],
    };
    view.webview.onDidReceiveMessage((message: FromPanel) => {
      this.receive(message).catch((error) => this.post({ type: "failed", text: reason(error) }));
    });
    view.onDidChangeVisibility(() => this.visibility.fire(view.visible));
    view.onDidDispose(() => {
      this.view = undefined;
      this.live = false;
      this.visibility.fire(false);
    });
    view.webview.html = this.html(view.webview);
    this.badge();
    this.visibility.fire(view.visible);
  }

  private async receive(message: FromPanel): Promise<void> {
    const { session, answers, pages, context } = this.parts;
    switch (message.type) {
      case "ready":
        return this.ready();
      case "send":
        return this.send(message.text, message.interrupt);
      case "stop":
        return session.stop();
      case "stopCall":
        return session.stopCall(message.callId);
      case "setMode":
        return session.setMode(message.mode);
      case "shown":
        return session.asks.shown(message.askId, this.parts.clock());
      case "read":
        return session.asks.read(message.askId);
      case "answer":
        return this.say(await answers.choose(message.askId, message.option, message.message));
      case "hunk":
        return this.say(await answers.hunks(message.askId, [message.hunkId], message.accept));
      case "review":
        pages.retry(message.askId);
        return this.parts.review(message.askId);
      case "page":
        return this.page(message.contentRef, message.offset);
      case "open":
        return open(message.path, message.line);
      case "detach":
        return context.remove(message.index);
      case "command":
        await vscode.commands.executeCommand(`toolgate.${message.command}`);
    }
  }

  private async send(text: string, interrupt: boolean): Promise<void> {
    if (text.trim() === "") {
      return;
    }
    const attached = this.parts.context.take();
    await this.parts.session.prompt(
      [...attached, { type: "text", text }],
      interrupt ? "interrupt" : "next_request",
    );
    this.post({ type: "sent" });
  }

  private async page(contentRef: string, offset: number): Promise<void> {
    const page = await this.parts.session.page(contentRef, offset);
    const { text, next, totalBytes } = page;
    this.post({ type: "page", contentRef, text, next: next ?? undefined, total: totalBytes });
  }

  private say(hindrance: string | undefined): void {
    if (hindrance !== undefined) {
      this.post({ type: "failed", text: hindrance });
    }
  }

  private ready(): void {
    this.live = true;
    this.reset();
    this.health();
    this.post({ type: "attachments", attachments: this.parts.context.list() });
    this.giveFocus();
  }

  private giveFocus(): void {
    if (this.wantsFocus && this.live) {
      this.wantsFocus = false;
      this.post({ type: "focus" });
    }
  }

  private reset(): void {
    const { projection } = this.parts.session;
    this.batch.clear();
    const items = [...projection.items.values()].slice(-RESET_ITEMS);
    this.post({ type: "reset", items, header: projection.header });
    this.asks();
  }

  private asks(): void {
    const { session, views, pages, clock } = this.parts;
    const open = session.asks.list();
    // Prompts queue and never replace each other: the first one is shown until it is closed.
    const asks = open.slice(0, 1).map((ask) => views.view(ask, pages.of(ask.opened.askId), clock()));
    this.post({ type: "asks", asks, waiting: Math.max(open.length - 1, 0) });
    this.badge();
  }

  private badge(): void {
    if (this.view !== undefined) {
      const value = this.parts.session.asks.list().length;
      this.view.badge =
        value > 0 ? { value, tooltip: vscode.l10n.t("{0} prompts wait for you", value) } : undefined;
    }
  }

  private post(message: ToPanel): void {
    if (this.live) {
      void this.view?.webview.postMessage(message);
    }
  }

  private html(webview: vscode.Webview): string {
    const nonce = randomBytes(18).toString("base64");
    const uri = (file: string) => webview.asWebviewUri(vscode.Uri.joinPath(this.extensionUri, "dist", file));
    const strings = JSON.stringify(translated()).replace(/</g, "\\u003c");
    const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'; img-src data:`;
    return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${uri("panel.css")}">
<title>Toolgate</title>
</head>
<body>
<script type="application/json" id="strings" nonce="${nonce}">${strings}</script>
<script nonce="${nonce}" src="${uri("panel.js")}"></script>
</body>
</html>`;
  }
}

/** The panel's sentences in the display language. */
function translated(): PanelStrings {
  const entries = Object.entries(PANEL_STRINGS).map(([key, text]) => [key, vscode.l10n.t(text)] as const);
  return Object.fromEntries(entries) as Record<PanelString, string>;
}

/** Opens a file at a line. Only files: a session's text must not open anything else. */
async function open(path: string, line: number | undefined): Promise<void> {
  const uri = vscode.Uri.file(path);
  const at = line === undefined ? undefined : new vscode.Range(line, 0, line, 0);
  await vscode.window.showTextDocument(uri, at === undefined ? {} : { selection: at });
}
