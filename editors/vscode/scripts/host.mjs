// Bundles the host suite into dist/host. Must never be packaged: .vscodeignore takes dist/*.js only.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
await build({
  entryPoints: [join(root, "test/host/index.ts")],
  outfile: join(root, "dist/host/index.js"),
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  sourcemap: "inline",
  logLevel: "warning",
});
