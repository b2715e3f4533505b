// Runs every test of the VS Code extension and counts: lint, logic, extension host, walks. Must
// never pass with something not run: each part's missing result is a failure.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { repo, until, Workbench } from "./lib/workbench.mjs";

const extension = join(repo, "editors/vscode");
const shots = resolve(process.env.TOOLGATE_SHOTS ?? join(repo, "target/shots/vscode"));
const built = join(process.env.CARGO_TARGET_DIR ?? join(repo, "target"), "debug");
const sidecar = resolve(process.env.TOOLGATE_BIN ?? join(built, "toolgate"));
const fakeModel = resolve(process.env.FAKE_MODEL_BIN ?? join(built, "fake-model"));
const count = { passed: 0, failed: 0 };

function say(name, error) {
  count[error === undefined ? "passed" : "failed"] += 1;
  process.stdout.write(error === undefined ? `ok    ${name}\n` : `FAIL  ${name}\n${error}\n`);
}

/** Runs a program; its output is shown only when it fails. */
function program(name, file, args, env = {}) {
  const all = { ...process.env, NO_COLOR: "1", ...env };
  const run = spawnSync(file, args, { cwd: extension, encoding: "utf8", env: all });
  say(name, run.status === 0 ? undefined : `${run.stdout}${run.stderr}`.slice(-8_000));
  return run;
}

function lint() {
  program("types", "node_modules/.bin/tsc", ["--noEmit"]);
  program("lint and format", "node_modules/.bin/biome", ["ci", "--colors=off", "."]);
  program("protocol types are in step with the schema", process.execPath, ["scripts/protocol.mjs", "--check"]);
  program("sentences for translators are in step", process.execPath, ["scripts/l10n.mjs", "--check"]);
}

function unit() {
  const run = spawnSync(process.execPath, ["scripts/test.mjs"], { cwd: extension, encoding: "utf8" });
  const number = (word) => Number(new RegExp(`^. ${word} (\\d+)$`, "m").exec(run.stdout)?.[1] ?? 0);
  count.passed += number("pass");
  process.stdout.write(`ok    ${number("pass")} unit tests\n`);
  if (run.status !== 0 || number("pass") === 0) {
    say("unit tests", `${run.stdout}${run.stderr}`.slice(-8_000));
  }
}

async function host() {
  program("host suite is bundled", process.execPath, ["scripts/host.mjs"]);
  const workspace = await mkdtemp(join(tmpdir(), "toolgate-host-"));
  const results = join(workspace, "..", `toolgate-host-${process.pid}.json`);
  let bench;
  try {
    bench = await Workbench.start({
      workspace,
      binary: sidecar,
      env: { TOOLGATE_HOST_RESULTS: results, ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
      development: { extension, tests: join(extension, "dist/host/index.js") },
    });
    await until("the host suite's results", () => (existsSync(results) ? true : undefined), 180_000);
    const all = await until("whole results", async () => {
      try {
        return JSON.parse(await readFile(results, "utf8"));
      } catch {
        // Not written to its end yet.
        return undefined;
      }
    });
    for (const { name, error } of all) {
      say(`host: ${name}`, error);
    }
  } catch (error) {
    say("host suite", error.stack);
  } finally {
    await bench?.stop();
    await rm(workspace, { recursive: true, force: true });
    await rm(results, { force: true });
  }
}

/** The package that a person installs holds the sidecar, ready to run, and nothing of the workspace. */
async function packaged() {
  const folder = await mkdtemp(join(tmpdir(), "toolgate-package-"));
  const vsix = join(folder, "toolgate.vsix");
  const env = { TOOLGATE_BIN: sidecar };
  if (program("package with the sidecar", process.execPath, ["scripts/package.mjs", vsix], env).status === 0) {
    try {
      await Workbench.installed(vsix, async (installed) => {
        const all = (await readdir(installed)).map((name) => name.toLowerCase());
        const names = all.filter((name) => !name.startsWith(".")).sort();
        const wanted = "bin dist l10n license-apache.txt license-mit.txt media package.json package.nls.json readme.md";
        const said = spawnSync(join(installed, "bin/toolgate"), ["--version"], { encoding: "utf8" });
        say("the package holds these files", same(names.join(" "), wanted));
        say("the packaged sidecar runs", /^toolgate \d/.test(said.stdout ?? "") ? undefined : `${said.error ?? said.stderr}`);
      });
    } catch (error) {
      say("the package installs", error.stack);
    }
  }
  await rm(folder, { recursive: true, force: true });
}

const same = (found, wanted) => (found === wanted ? undefined : `found  ${found}\nwanted ${wanted}`);

/** Starts the scripted model server; { url, requests(), stop() }. */
async function startModel(script, vars) {
  const log = await mkdtemp(join(tmpdir(), "toolgate-model-"));
  const given = Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}=${value}`]);
  const child = spawn(fakeModel, ["--script", script, "--log", log, ...given], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const failed = new Promise((_, reject) => child.once("error", reject));
  const url = await Promise.race([
    failed,
    until("the model server", () => /listening (http:\S+)/.exec(said)?.[1]),
  ]);
  return {
    url,
    requests: async () => {
      const names = (await readdir(log)).filter((name) => /^request-\d+\.json$/.test(name)).sort();
      return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(log, name), "utf8"))));
    },
    stop: async () => {
      child.kill();
      await rm(log, { recursive: true, force: true });
    },
  };
}

/**
 * One folder of walks/: steps, script.json, workspace/, check.mjs, and options.mjs where the script
 * has variables (`vars`) or another `sidecar` is set.
 */
async function walk(name) {
  const folder = join(repo, "tests/vscode/walks", name);
  const own = join(folder, "options.mjs");
  let model;
  try {
    const options = existsSync(own) ? (await import(own)).default : {};
    model = await startModel(join(folder, "script.json"), options.vars ?? {});
    const args = ["--base-url", model.url, "--steps", join(folder, "steps"), "--shots", join(shots, name)];
    const run = spawn(
      process.execPath,
      [join(repo, "tests/drive/vscode.mjs"), ...args, "--workspace", join(folder, "workspace")],
      { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, TOOLGATE_BIN: options.sidecar ?? sidecar } },
    );
    let output = "";
    run.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    const code = await new Promise((ended) => run.once("close", ended));
    const steps = output.split("\n").filter((line) => line.startsWith("ok")).length;
    say(`walk ${name}: ${steps} steps`, code === 0 && steps > 0 ? undefined : output);
    const { check } = await import(join(folder, "check.mjs"));
    for (const [claim, probe] of check(await model.requests())) {
      try {
        probe();
        say(`walk ${name}: ${claim}`);
      } catch (error) {
        say(`walk ${name}: ${claim}`, error.message);
      }
    }
  } catch (error) {
    say(`walk ${name}`, error.stack);
  } finally {
    await model?.stop();
  }
}

for (const [what, file] of [["sidecar", sidecar], ["scripted model server", fakeModel]]) {
  if (!existsSync(file)) {
    say(`the ${what}`, `${file} is not there: build it first`);
  }
}
await mkdir(shots, { recursive: true });
lint();
unit();
await packaged();
await host();
for (const name of (await readdir(join(repo, "tests/vscode/walks"))).sort()) {
  await walk(name);
}
process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`);
process.exitCode = count.failed === 0 && count.passed > 0 ? 0 : 1;
