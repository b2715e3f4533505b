// Starts the sidecar's process and remembers what it said last. Must never pass the environment on
// anywhere else or write it to a log: it may hold a provider's key.
import { type ChildProcess, spawn } from "node:child_process";
import type { LogOutputChannel } from "vscode";

/** Lines of standard error kept for the message about a death. */
const LAST_LINES = 5;

/** Milliseconds that a sidecar which closed its output has to end. */
const EXIT_MS = 500;

/** A running sidecar. */
export class SidecarProcess {
  private readonly lines: string[] = [];
  private rest = "";
  private ended: string | undefined;
  private readonly exit: Promise<void>;

  private constructor(
    readonly child: ChildProcess,
    private readonly log: LogOutputChannel,
  ) {
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.said(text));
    this.exit = new Promise((resolve) => {
      child.on("exit", (code, signal) => {
        this.ended = signal === null ? `exit code ${code}.` : `signal ${signal}.`;
        resolve();
      });
    });
  }

  /** Starts `file lsp --stdio`; fails when the file cannot be run. */
  static start(file: string, cwd: string | undefined, log: LogOutputChannel): Promise<SidecarProcess> {
    return new Promise((resolve, reject) => {
      const child = spawn(file, ["lsp", "--stdio"], { cwd, stdio: ["pipe", "pipe", "pipe"] });
      const fail = (error: Error) => reject(new Error(`"${file}" could not be started: ${error.message}`));
      child.once("error", fail);
      child.once("spawn", () => {
        child.off("error", fail);
        child.on("error", (error) => log.error(`sidecar: ${error.message}`));
        // Writing to a sidecar that just died must not become an unhandled error.
        child.stdin?.on("error", (error) => log.debug(`sidecar's input: ${error.message}`));
        resolve(new SidecarProcess(child, log));
      });
    });
  }

  /** How it ended and what it said last, for the person. One that only closed its output is killed. */
  async obituary(): Promise<string> {
    const late = setTimeout(() => this.kill(), EXIT_MS);
    await this.exit;
    clearTimeout(late);
    const said = this.lines.length > 0 ? ` It said last: ${this.lines.join(" / ")}` : "";
    return `${this.ended ?? ""}${said}`;
  }

  /** Ends it, whatever it is doing. */
  kill(): void {
    this.child.kill("SIGKILL");
  }

  private said(text: string): void {
    const parts = (this.rest + text).split("\n");
    // A line without an end must not grow without bound.
    this.rest = (parts.pop() ?? "").slice(-4_000);
    for (const line of parts) {
      this.log.info(`sidecar: ${line}`);
      this.lines.push(line.slice(0, 500));
    }
    this.lines.splice(0, this.lines.length - LAST_LINES);
  }
}
