// Bundles the extension and the panel into dist/. Must never leave a file of an older build there.
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = join(root, "dist");
await rm(out, { recursive: true, force: true });
const common = { bundle: true, minify: true, sourcemap: false, logLevel: "warning", absWorkingDir: root };
await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: join(out, "extension.js"),
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
});
await build({
  ...common,
  entryPoints: { panel: "src/webview/main.ts" },
  outdir: out,
  platform: "browser",
  format: "iife",
  target: "es2022",
});
await build({ ...common, entryPoints: { panel: "src/webview/panel.css" }, outdir: out });
