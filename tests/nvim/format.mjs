// Formats the Lua files of the plugin and of its tests, or says which are not formatted.
// `node format.mjs TOOLS [--check]`; TOOLS is the folder that `setup` prints.
// Must never: touch a generated file.
import { createRequire } from "node:module";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const [tools, flag] = process.argv.slice(2);
const require = createRequire(join(tools, "package.json"));
const stylua = require("@johnnymorganz/stylua");

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const GENERATED = new Set(["protocol.lua", "settings_meta.lua"]);

// Made anew for each file: the library takes it away with the call.
function config() {
  const made = stylua.Config.new();
  made.syntax = stylua.LuaVersion.LuaJIT;
  made.column_width = 120;
  made.indent_type = stylua.IndentType.Spaces;
  made.indent_width = 2;
  made.quote_style = stylua.QuoteStyle.AutoPreferDouble;
  return made;
}

function* luaFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules") yield* luaFiles(path);
    } else if (entry.name.endsWith(".lua") && !GENERATED.has(entry.name)) {
      yield path;
    }
  }
}

let wrong = 0;
for (const folder of [join(root, "editors", "nvim"), here]) {
  for (const path of luaFiles(folder)) {
    const before = readFileSync(path, "utf8");
    const after = stylua.formatCode(before, config(), undefined, stylua.OutputVerification.Full);
    if (before === after) continue;
    if (flag === "--check") {
      wrong += 1;
      console.log(`FAIL ${relative(root, path)} is not formatted; run node tests/nvim/format.mjs`);
    } else {
      writeFileSync(path, after);
    }
  }
}
process.exit(wrong === 0 ? 0 : 1);
