// Bundles the unit tests and runs them with Node's own test runner. Must never mock `vscode`: what
// needs the editor is tested in the real one (tests/vscode).
import { spawnSync } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = join(root, "dist/test");
await rm(out, { recursive: true, force: true });
const files = (await readdir(join(root, "test/unit"))).filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: files.map((name) => join(root, "test/unit", name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  logLevel: "warning",
});
const run = spawnSync(
  process.execPath,
  ["--enable-source-maps", "--test", ...files.map((name) => join(out, name.replace(/\.ts$/, ".mjs")))],
  { stdio: "inherit" },
);
process.exitCode = run.status ?? 1;
