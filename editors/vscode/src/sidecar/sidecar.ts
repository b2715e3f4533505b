// Keeps one sidecar running and speaks with it: finds it, starts it, checks its protocol, starts it
// again with growing pauses when it dies. Must never decide anything about a session, and never see
// the provider's key.
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn } from "vscode-languageclient/node";
import { Backoff } from "../model/backoff.ts";
import { findBinary } from "../model/find.ts";
import { type Disposable, Signal } from "../model/signal.ts";
import type { Health } from "../panel/messages.ts";
import { type ClientHello, PROTOCOL, type ServerHello, type StatusResult } from "../protocol.ts";
import type { Wire } from "../session/session.ts";
import { SidecarProcess } from "./process.ts";
import { SentVersions } from "./sent.ts";

/** Kinds of payload that the panel draws. */
const RENDERS = [
  "text",
  "markdown",
  "diff",
  "terminal",
  "file_list",
  "matches",
  "json",
  "image",
  "plan",
  "fallback",
];

/** Milliseconds that a sidecar has to end by itself. */
const STOP_MS = 2_000;

/** Puts handlers on every new connection. */
export type Attach = (client: LanguageClient) => void;

/** The sidecar, over all its lives. */
export class Sidecar implements Wire, Disposable {
  readonly health = new Signal<Health>();
  /** A sidecar answered `initialize`; handlers are in place. */
  readonly ready = new Signal<ServerHello>();
  /** Which versions of documents the sidecar was told. */
  readonly sent = new SentVersions();
  current: Health = { state: "starting", problems: [] };
  private readonly backoff = new Backoff();
  private client: LanguageClient | undefined;
  private process: SidecarProcess | undefined;
  private timer: NodeJS.Timeout | undefined;
  private disposed = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly attach: Attach,
  ) {}

  /** Starts it; the outcome is told by `health`. */
  async start(): Promise<void> {
    clearTimeout(this.timer);
    this.tell("starting", []);
    const found = this.find();
    if ("problem" in found) {
      this.tell("failed", [found.problem]);
      return;
    }
    this.log.info(`starting ${found.file} (from ${found.from})`);
    const client = this.makeClient(found.file);
    this.client = client;
    this.attach(client);
    try {
      await client.start();
      this.greet(client);
    } catch (error) {
      this.ended(client, error instanceof Error ? error.message : String(error));
    }
  }

  /** Ends it and starts it anew, at the person's wish. */
  async restart(): Promise<void> {
    this.backoff.reset();
    await this.stop();
    await this.start();
  }

  /** The binary that would be started, if one is found. */
  get binary(): string | undefined {
    const found = this.find();
    return "file" in found ? found.file : undefined;
  }

  request<R>(method: string, params: object): Promise<R> {
    if (this.client === undefined || this.current.state !== "ready") {
      return Promise.reject(new Error(vscode.l10n.t("The Toolgate sidecar is not running.")));
    }
    return this.client.sendRequest<R>(method, params);
  }

  async notify(method: string, params: object): Promise<void> {
    if (this.client !== undefined && this.current.state === "ready") {
      await this.client.sendNotification(method, params);
    }
  }

  /** Asks the sidecar what is wrong with it, and shows it. */
  async checkHealth(): Promise<void> {
    try {
      const status = await this.request<StatusResult>("toolgate/status", {});
      if (this.current.state === "ready") {
        this.tell("ready", status.problems);
      }
    } catch (error) {
      this.log.warn(`toolgate/status: ${error}`);
    }
  }

  /** The person changed settings: the sidecar hears of its own, a new path starts it anew. */
  configurationChanged(event: vscode.ConfigurationChangeEvent): void {
    if (event.affectsConfiguration("toolgate.path")) {
      void this.restart();
    } else if (event.affectsConfiguration("toolgate.settings")) {
      const settings = vscode.workspace.getConfiguration("toolgate").get<object>("settings", {});
      void this.notify("workspace/didChangeConfiguration", { settings: { toolgate: settings } });
    }
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
    void this.stop();
  }

  /** Ends the sidecar; it is killed when it does not end by itself. */
  async stop(): Promise<void> {
    clearTimeout(this.timer);
    const { client, process } = this;
    this.client = undefined;
    this.process = undefined;
    try {
      await client?.stop(STOP_MS);
    } catch (error) {
      this.log.debug(`stopping: ${error}`);
    }
    process?.kill();
  }

  private find() {
    return findBinary({
      setting: vscode.workspace.getConfiguration("toolgate").get<string>("path", ""),
      extensionFolder: this.context.extensionPath,
      path: process.env.PATH,
      windows: process.platform === "win32",
      home: homedir(),
      runnable: isRunnable,
    });
  }

  private makeClient(file: string): LanguageClient {
    const cwd = vscode.workspace.workspaceFolders?.find((folder) => folder.uri.scheme === "file")?.uri.fsPath;
    const client: LanguageClient = new LanguageClient(
      "toolgate",
      "Toolgate",
      async () => {
        const process = await SidecarProcess.start(file, cwd, this.log);
        this.process = process;
        const { stdout, stdin } = process.child;
        if (stdout === null || stdin === null) {
          throw new Error("the sidecar has no standard input or output");
        }
        return { reader: stdout, writer: stdin };
      },
      {
        documentSelector: [{ scheme: "file" }],
        outputChannel: this.log,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        initializationOptions: () => ({ toolgate: hello() }),
        initializationFailedHandler: () => false,
        // The sidecar reads what the person sees: it must know every open document at once.
        textSynchronization: { delayOpenNotifications: false },
        middleware: this.sent.middleware(),
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          closed: () => {
            this.ended(client, undefined);
            return { action: CloseAction.DoNotRestart, handled: true };
          },
        },
      },
    );
    return client;
  }

  private greet(client: LanguageClient): void {
    if (client !== this.client) {
      return;
    }
    const said = client.initializeResult?.capabilities.experimental?.toolgate as ServerHello | undefined;
    if (said?.protocol !== PROTOCOL) {
      const theirs = said === undefined ? "none" : String(said.protocol);
      this.tell("failed", [
        `The sidecar speaks protocol ${theirs}, this extension speaks ${PROTOCOL}. Update the older of the two.`,
      ]);
      void this.stop();
      return;
    }
    this.log.info(`sidecar ${said.version} is ready (epoch ${said.epoch})`);
    this.backoff.started(Date.now());
    this.tell("ready", []);
    this.ready.fire(said);
  }

  /** The connection is gone or never came; told once for each client. */
  private ended(client: LanguageClient, why: string | undefined): void {
    if (client !== this.client || this.disposed) {
      return;
    }
    const { process } = this;
    this.client = undefined;
    this.process = undefined;
    this.sent.clear();
    void this.mourn(process, why);
  }

  private async mourn(process: SidecarProcess | undefined, why: string | undefined): Promise<void> {
    const cause = (await process?.obituary()) ?? why ?? "it could not be started.";
    if (this.disposed || this.client !== undefined) {
      return;
    }
    const wait = this.backoff.died(Date.now());
    this.log.error(`the sidecar ended: ${cause}`);
    if (wait === undefined) {
      this.tell("failed", [`The sidecar ended too often and is not started again. Last: ${cause}`]);
      return;
    }
    this.tell("restarting", [`The sidecar ended: ${cause} It is started again in ${wait / 1000} s.`]);
    this.timer = setTimeout(() => void this.start(), wait);
  }

  private tell(state: Health["state"], problems: string[]): void {
    this.current = { state, problems };
    this.health.fire(this.current);
  }
}

/** What the extension announces in `initialize`. */
function hello(): ClientHello {
  const settings = vscode.workspace.getConfiguration("toolgate").get<object>("settings", {});
  return {
    protocol: PROTOCOL,
    ui: {
      permission: true,
      question: false,
      review: true,
      render: RENDERS,
      edit: true,
      save: true,
      diagnostics: false,
    },
    ...(Object.keys(settings).length > 0 ? { settings: { ...settings } } : {}),
  };
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not ours to run: both mean that this place has no sidecar.
    return false;
  }
}
