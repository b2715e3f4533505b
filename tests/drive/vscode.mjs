// Walks through the real VS Code workbench by the steps of a file (format: README.md beside this
// file). Must never go on after a step that did not hold.
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Screen } from "../vscode/lib/screen.mjs";
import { repo, until, Workbench } from "../vscode/lib/workbench.mjs";

const { values } = parseArgs({
  options: {
    "base-url": { type: "string" },
    steps: { type: "string" },
    shots: { type: "string" },
    workspace: { type: "string" },
  },
});
for (const needed of ["base-url", "steps", "shots"]) {
  if (!values[needed]) {
    process.stderr.write(`--${needed} is missing\n`);
    process.exit(2);
  }
}

/** The steps of a file: [{ line, verb, rest }]. */
async function readSteps(file) {
  const lines = (await readFile(file, "utf8")).split("\n");
  return lines
    .map((text, i) => ({ line: i + 1, text: text.trim() }))
    .filter(({ text }) => text !== "" && !text.startsWith("#"))
    .map(({ line, text }) => {
      const [, verb, rest] = /^(\S+)\s?(.*)$/.exec(text);
      return { line, verb, rest };
    });
}

const unescape = (text) => text.replace(/\\n/g, "\n");

/** Says what each verb does. */
function verbs(bench, screen, workspace, baseUrl, shots) {
  const holds = async (text, wanted) => {
    await until(`the buffer ${wanted ? "to hold" : "to be without"} "${text}"`, async () => {
      const document = await bench.document();
      return (document?.text.replace(/\r\n/g, "\n").includes(unescape(text)) ?? false) === wanted ? true : undefined;
    });
  };
  const onDisk = async (rest, wanted) => {
    const [, path, text] = /^(\S+)\s?(.*)$/.exec(rest) ?? [];
    const file = join(workspace, path);
    await until(`${path} ${wanted ? "to hold" : "to be without"} "${text}"`, async () => {
      const held = existsSync(file) ? await readFile(file, "utf8") : "";
      return held.includes(unescape(text)) === wanted ? true : undefined;
    });
  };
  return {
    open: (rest) => screen.open(rest),
    type: (rest) => screen.type(rest),
    keys: (rest) => screen.keys(rest),
    click: (rest) => screen.click(rest),
    command: (rest) => screen.command(rest),
    wait: (rest) => screen.see(rest),
    gone: (rest) => screen.gone(rest),
    buffer: (rest) => holds(rest, true),
    nobuffer: (rest) => holds(rest, false),
    disk: (rest) => onDisk(rest, true),
    nodisk: (rest) => onDisk(rest, false),
    shot: (rest) => screen.shot(join(shots, `${rest}.png`)),
    release: async (rest) => {
      const answer = await fetch(new URL(`/control/release/${encodeURIComponent(rest)}`, baseUrl), { method: "POST" });
      if (!answer.ok) {
        throw new Error(`the server answered ${answer.status}`);
      }
    },
  };
}

/** Copies the workspace, so that the walk changes only a copy. */
async function scratchWorkspace(from) {
  const folder = await mkdtemp(join(tmpdir(), "toolgate-workspace-"));
  if (from) {
    await cp(resolve(from), folder, { recursive: true });
  }
  return folder;
}

async function walk() {
  const steps = await readSteps(values.steps);
  const shots = resolve(values.shots);
  await mkdir(shots, { recursive: true });
  const workspace = await scratchWorkspace(values.workspace);
  const bench = await Workbench.start({
    workspace,
    binary: resolve(process.env.TOOLGATE_BIN ?? join(repo, "target/debug/toolgate")),
    env: { ANTHROPIC_BASE_URL: values["base-url"], ANTHROPIC_API_KEY: "test-key" },
  });
  try {
    const screen = new Screen(bench);
    const table = verbs(bench, screen, workspace, values["base-url"], shots);
    for (const { line, verb, rest } of steps) {
      try {
        if (table[verb] === undefined) {
          throw new Error(`there is no verb "${verb}"`);
        }
        await table[verb](rest);
        process.stdout.write(`ok    ${line}: ${verb} ${rest}\n`);
      } catch (error) {
        process.stdout.write(`FAIL  ${line}: ${verb} ${rest}\n      ${error.message}\n`);
        await screen.shot(join(shots, `failed-line-${line}.png`));
        return 1;
      }
    }
    return 0;
  } finally {
    await bench.stop();
    await rm(workspace, { recursive: true, force: true });
  }
}

process.exitCode = await walk();
