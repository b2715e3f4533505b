// Writes l10n/bundle.l10n.json: every sentence that the extension says, for translators.
// With --check it only says whether the file is in step. Must never hold a sentence of its own.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";

const root = join(fileURLToPath(import.meta.url), "../..");
const file = join(root, "l10n/bundle.l10n.json");
// A sentence is one string literal, so that it can be found: `l10n.t("…"` or `l10n.t(\n  "…"`.
const CALL = /\bl10n\.t\(\s*("(?:[^"\\]|\\.)*"|[^)\s])/g;

async function sentences() {
  const source = await readFile(join(root, "src/model/strings.ts"), "utf8");
  const { code } = await transform(source, { loader: "ts", format: "esm" });
  const { PANEL_STRINGS } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const found = new Set(Object.values(PANEL_STRINGS));
  for (const name of await readdir(join(root, "src"), { recursive: true })) {
    const text = name.endsWith(".ts") ? await readFile(join(root, "src", name), "utf8") : "";
    for (const [call, literal] of text.matchAll(CALL)) {
      if (literal.startsWith('"')) {
        found.add(JSON.parse(literal));
      } else if (!name.endsWith("view.ts")) {
        throw new Error(`src/${name}: ${call}… is no string literal`);
      }
    }
  }
  return [...found].sort();
}

const wanted = `${JSON.stringify(Object.fromEntries((await sentences()).map((text) => [text, text])), null, 2)}\n`;
if (!process.argv.includes("--check")) {
  await mkdir(join(root, "l10n"), { recursive: true });
  await writeFile(file, wanted);
} else if ((await readFile(file, "utf8").catch(() => "")) !== wanted) {
  process.stderr.write("l10n/bundle.l10n.json is not in step: run `npm run l10n`\n");
  process.exitCode = 1;
}
