// Starts a real VS Code workbench (code-server) with the extension, a browser on it, and ends both.
// Must never touch the person's own settings: home, XDG folders and editor data are scratch.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const repo = resolve(here, "../../..");

/** The folder that `tests/vscode/run` installs into. */
export const tools = resolve(process.env.TOOLGATE_TOOLS ?? join(repo, "target/tools"), "vscode");

/** Milliseconds after which a wait is called a failure. */
export const DEADLINE_MS = 60_000;

/** Waits until `probe` gives a value that is not undefined. */
export async function until(what, probe, deadline = DEADLINE_MS) {
  const end = Date.now() + deadline;
  for (;;) {
    const value = await probe();
    if (value !== undefined) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`waited ${deadline / 1000} s for ${what}`);
    }
    // A pause between two looks, not a wait: the loop ends by what it sees.
    await new Promise((next) => setTimeout(next, 50));
  }
}

/** A free port of this machine. */
function freePort() {
  return new Promise((found, failed) => {
    const server = createServer().once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
}

/** GETs a URL or a path of a Unix socket; undefined when nobody answers. */
function get(options) {
  return new Promise((done) => {
    const asked = request(options, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text) => {
        body += text;
      });
      response.on("end", () => done(response.statusCode === 200 ? body : undefined));
    });
    asked.on("error", () => done(undefined)).end();
  });
}

/** The browser to use. */
export function chromium() {
  const found = [process.env.TOOLGATE_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
    (file) => file && existsSync(file),
  );
  if (!found) {
    throw new Error("no Chromium: `apt-get install --no-install-recommends chromium`, or set TOOLGATE_CHROMIUM");
  }
  return found;
}

const node24 = () => join(tools, `node_modules/node-linux-${process.arch}/bin/node`);
const codeServer = () => join(tools, "node_modules/code-server/out/node/entry.js");

const USER_SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.tips.enabled": false,
  "workbench.colorTheme": "Default Dark Modern",
  "workbench.enableExperiments": false,
  "security.workspace.trust.enabled": false,
  "chat.disableAIFeatures": true,
  "chat.commandCenter.enabled": false,
  "extensions.ignoreRecommendations": true,
  "editor.autoClosingBrackets": "never",
  "editor.autoClosingQuotes": "never",
  "editor.autoIndent": "none",
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
  "editor.suggestOnTriggerCharacters": false,
  "editor.minimap.enabled": false,
  "editor.wordBasedSuggestions": "off",
  "files.autoSave": "off",
  "files.hotExit": "off",
  "git.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
};

/** A scratch folder with everything of the editor's in it. */
async function scratchHome(settings) {
  const root = await mkdtemp(join(tmpdir(), "toolgate-walk-"));
  for (const folder of ["home", "config", "data", "state", "cache", "editor/User", "editor/Machine"]) {
    await mkdir(join(root, folder), { recursive: true });
  }
  const text = JSON.stringify({ ...USER_SETTINGS, ...settings }, null, 2);
  // Settings of machine scope count only in the machine's file when the window is a remote one.
  await writeFile(join(root, "editor/User/settings.json"), text);
  await writeFile(join(root, "editor/Machine/settings.json"), text);
  return root;
}

/** The editor and the browser on it. */
export class Workbench {
  /**
   * Starts both. `workspace` is the folder that is opened; `binary` the sidecar; `env` goes to the
   * editor; `development` = { extension, tests } loads an extension unpacked and runs its tests.
   */
  static async start({ workspace, binary, env = {}, settings = {}, development }) {
    const bench = new Workbench();
    try {
      bench.root = await scratchHome({ "toolgate.path": binary, ...settings });
      bench.workspace = workspace;
      await bench.installExtensions(development === undefined);
      await bench.startServer(env);
      await bench.startBrowser(development);
    } catch (error) {
      await bench.stop();
      throw error;
    }
    return bench;
  }

  async installExtensions(own) {
    this.extensions = join(this.root, "extensions");
    await mkdir(this.extensions);
    await cp(join(here, "../probe"), join(this.extensions, "toolgate.toolgate-probe-0.0.1"), { recursive: true });
    if (own) {
      this.install(process.env.TOOLGATE_VSIX ?? join(tools, "toolgate.vsix"));
    }
  }

  install(vsix) {
    execFileSync(node24(), [codeServer(), ...this.folders(), "--install-extension", vsix], {
      env: this.environment({}),
      stdio: "ignore",
    });
  }

  /** Installs a package as a person would and gives its folder to `look`. */
  static async installed(vsix, look) {
    const bench = new Workbench();
    try {
      bench.root = await scratchHome({});
      bench.extensions = join(bench.root, "extensions");
      bench.install(vsix);
      const folders = (await readdir(bench.extensions)).filter((name) => name.startsWith("toolgate.toolgate-"));
      await look(join(bench.extensions, ...folders));
    } finally {
      await bench.stop();
    }
  }

  folders() {
    return ["--extensions-dir", this.extensions, "--user-data-dir", join(this.root, "editor"), "--config", join(this.root, "config.yaml")];
  }

  environment(more) {
    return {
      PATH: process.env.PATH,
      LANG: "C.UTF-8",
      TMPDIR: process.env.TMPDIR ?? "/tmp",
      HOME: join(this.root, "home"),
      XDG_CONFIG_HOME: join(this.root, "config"),
      XDG_DATA_HOME: join(this.root, "data"),
      XDG_STATE_HOME: join(this.root, "state"),
      XDG_CACHE_HOME: join(this.root, "cache"),
      XDG_RUNTIME_DIR: this.root,
      EXTENSIONS_GALLERY: "{}",
      TOOLGATE_PROBE: join(this.root, "probe.sock"),
      ...more,
    };
  }

  async startServer(env) {
    this.port = await freePort();
    this.log = "";
    const args = [
      codeServer(),
      "--auth=none",
      `--bind-addr=127.0.0.1:${this.port}`,
      ...this.folders(),
      "--disable-telemetry",
      "--disable-update-check",
      "--disable-workspace-trust",
      "--vscode-option",
      "enable-smoke-test-driver",
      this.workspace,
    ];
    // A group of its own: an orphaned extension host must be ended with it.
    this.server = spawn(node24(), args, { env: this.environment(env), detached: true, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.server.stdout, this.server.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        this.log += text;
      });
    }
    await until("code-server", async () => {
      if (this.server.exitCode !== null) {
        throw new Error(`code-server ended with ${this.server.exitCode}:\n${this.log}`);
      }
      return get({ host: "127.0.0.1", port: this.port, path: "/healthz" });
    });
  }

  async startBrowser(development) {
    const { chromium: playwright } = createRequire(join(tools, "package.json"))("playwright-core");
    this.browser = await playwright.launch({
      executablePath: chromium(),
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    const context = await this.browser.newContext({ viewport: { width: 1400, height: 900 } });
    this.page = await context.newPage();
    const remote = (path) => `vscode-remote://127.0.0.1:${this.port}${path}`;
    const payload = development && [
      ["extensionDevelopmentPath", remote(development.extension)],
      ["extensionTestsPath", remote(development.tests)],
    ];
    const query = new URLSearchParams({ folder: this.workspace });
    if (payload) {
      query.set("payload", JSON.stringify(payload));
    }
    await this.page.goto(`http://127.0.0.1:${this.port}/?${query}`);
    await this.page.waitForSelector(".monaco-workbench .part.statusbar", { timeout: 2 * DEADLINE_MS });
  }

  /** What the active text document holds: { uri, text, version, dirty }, or null. */
  async document() {
    const body = await until("the probe", () => get({ socketPath: join(this.root, "probe.sock"), path: "/" }));
    return JSON.parse(body);
  }

  /** Ends browser, editor and all that they started, and removes the scratch folder. */
  async stop() {
    await this.browser?.close();
    if (this.server?.pid) {
      try {
        process.kill(-this.server.pid, "SIGKILL");
      } catch (error) {
        // ESRCH: the whole group ended by itself.
        if (error.code !== "ESRCH") {
          throw error;
        }
      }
    }
    if (this.root) {
      await rm(this.root, { recursive: true, force: true, maxRetries: 10 });
    }
  }
}
