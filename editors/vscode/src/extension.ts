// Wires the extension: which part hears which. Must never hold logic of its own.
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { ReviewCommands } from "./commands/review.ts";
import { SessionCommands } from "./commands/session.ts";
import { Documents } from "./document/documents.ts";
import { Reveal, scriptsOf } from "./model/reveal.ts";
import { faults } from "./model/signal.ts";
import { AskViews } from "./panel/askview.ts";
import { PromptContext } from "./panel/context.ts";
import { AskPages } from "./panel/pages.ts";
import { Panel } from "./panel/view.ts";
import type {
  AskClosed,
  AskOpened,
  DocumentEditParams,
  DocumentSaveParams,
  SessionUpdate,
} from "./protocol.ts";
import { Answers } from "./review/answers.ts";
import { InlineReview } from "./review/inline.ts";
import { Proposals } from "./review/proposals.ts";
import { ProposedTexts } from "./review/proposed.ts";
import { Session } from "./session/session.ts";
import { Sidecar } from "./sidecar/sidecar.ts";
import { ChangedFiles } from "./status/changedfiles.ts";
import { Notifications } from "./status/notifications.ts";
import { StatusBar } from "./status/statusbar.ts";

/** Key under which the workspace remembers its session. */
const SESSION_KEY = "toolgate.session";

let running: Sidecar | undefined;

/** Called by VS Code when the extension starts. */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Toolgate", { log: true });
  faults.report = (error) => log.error(error instanceof Error ? error : String(error));
  const clock = () => Date.now();
  const sidecar = new Sidecar(context, log, (client) => attach(client, session, documents));
  running = sidecar;
  const session = new Session(sidecar, memory(context), clock);
  const documents = new Documents(sidecar.sent);
  const answers = new Answers(session, clock);
  const reveal = new Reveal(scriptsOf(vscode.env.language));
  const proposals = new Proposals(session.asks);
  const inline = new InlineReview(proposals, session.asks, reveal, clock);
  const texts = new ProposedTexts(session.asks, proposals);
  const prompt = new PromptContext();
  const review = new ReviewCommands({ session, answers, proposals, inline, texts });
  const panel = new Panel(context.extensionUri, {
    session,
    answers,
    views: new AskViews(reveal),
    pages: new AskPages(session, session.asks),
    context: prompt,
    health: () => sidecar.current,
    clock,
    review: (askId) => review.review(askId),
  });
  const focus = () => panel.focus();
  const status = new StatusBar(session, () => sidecar.current);
  const notifications = new Notifications({
    session,
    answers,
    panelVisible: () => panel.visible,
    focusPanel: focus,
    clock,
  });
  const commands = new SessionCommands({ session, answers, context: prompt, sidecar, log, focus });
  context.subscriptions.push(
    log,
    proposals,
    inline,
    texts,
    panel,
    status,
    notifications,
    new ChangedFiles(session),
    sidecar,
    sidecar.health.on(() => {
      panel.health();
      status.draw();
    }),
    sidecar.ready.on(() => void session.connected().then(() => sidecar.checkHealth())),
    session.failed.on((text) => log.warn(text)),
    session.live.on((update) => proposals.heard(update)),
    proposals.changed.on(
      () =>
        void vscode.commands.executeCommand("setContext", "toolgate.reviewing", proposals.all().length > 0),
    ),
    vscode.workspace.onDidChangeConfiguration((event) => sidecar.configurationChanged(event)),
  );
  register(context, { ...commands.table(), ...review.table() }, log);
  void sidecar.start();
}

/** Called by VS Code when the extension ends. */
export async function deactivate(): Promise<void> {
  await running?.stop();
  running = undefined;
}

/** Puts the handlers of everything the sidecar says on a new connection. */
function attach(client: LanguageClient, session: Session, documents: Documents): void {
  client.onNotification("toolgate/session/update", (message: SessionUpdate) => session.update(message));
  client.onNotification("toolgate/ask/opened", (message: AskOpened) => session.askOpened(message));
  client.onNotification("toolgate/ask/closed", (message: AskClosed) => session.askClosed(message));
  client.onRequest("toolgate/document/edit", (params: DocumentEditParams) => documents.edit(params));
  client.onRequest("toolgate/document/save", (params: DocumentSaveParams) => documents.save(params));
}

function memory(context: vscode.ExtensionContext) {
  return {
    get: () => context.workspaceState.get<string>(SESSION_KEY),
    set: (sessionId: string | undefined) => void context.workspaceState.update(SESSION_KEY, sessionId),
  };
}

/** Registers commands; what one of them throws is said, not swallowed. */
function register(
  context: vscode.ExtensionContext,
  table: Record<string, (argument: unknown) => unknown>,
  log: vscode.LogOutputChannel,
): void {
  for (const [name, run] of Object.entries(table)) {
    context.subscriptions.push(
      vscode.commands.registerCommand(`toolgate.${name}`, async (argument: unknown) => {
        try {
          await run(argument);
        } catch (error) {
          const text = error instanceof Error ? error.message : String(error);
          log.error(text);
          void vscode.window.showErrorMessage(`Toolgate: ${text}`);
        }
      }),
    );
  }
}
