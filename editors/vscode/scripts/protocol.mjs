// Writes src/protocol.ts from ../../protocol/schema.json, or (`--check`) compares the committed
// file with a fresh one. Must never be edited into shape by hand: the schema is the source.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../src/protocol.ts");

/**
 * Makes every object closed, so that the generated types have no index signature: a misspelt field
 * must not type-check. (On the wire unknown fields are ignored on both sides.)
 */
function close(node) {
  if (Array.isArray(node)) {
    return node.map(close);
  }
  if (node === null || typeof node !== "object") {
    return node;
  }
  if (typeof node.$ref === "string") {
    return reference(node);
  }
  const closed = {};
  for (const [key, value] of Object.entries(node)) {
    // Integer formats mean nothing to TypeScript and only make noise in the comments.
    if (key !== "format" && key !== "minimum" && key !== "maximum") {
      closed[key] = close(value);
    }
  }
  if (closed.type === "object" && closed.properties && !("additionalProperties" in closed)) {
    closed.additionalProperties = false;
  }
  return closed;
}

/** Keeps a reference a reference: beside siblings the generator would write the type out anew. */
function reference({ $ref, description: _said, ...rest }) {
  if (rest.properties === undefined) {
    return { $ref };
  }
  return { allOf: [{ $ref }, close(rest)] };
}

/** The types as TypeScript source. */
export async function generate() {
  const schema = JSON.parse(await readFile(join(here, "../../../protocol/schema.json"), "utf8"));
  const { $defs, "x-methods": methods, "x-protocol": version } = schema;
  const types = await compile({ title: "Toolgate protocol", $defs: close($defs) }, "ToolgateProtocol", {
    additionalProperties: false,
    bannerComment:
      "// Generated from protocol/schema.json by `npm run protocol`. Must never be edited by hand.",
    declareExternallyReferenced: true,
    unreachableDefinitions: true,
    format: true,
    style: { printWidth: 110 },
  });
  const said = types
    .replace(
      / \*\n \* This interface was referenced by `ToolgateProtocol`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g,
      "",
    )
    .replace(/export interface ToolgateProtocol \{[^}]*\}\n/, "");
  const names = Object.entries(methods)
    .map(
      ([name, { direction, built }]) => `  ${JSON.stringify(name)}: ${JSON.stringify({ direction, built })},`,
    )
    .join("\n");
  return `${said}\n/** The protocol's version. */\nexport const PROTOCOL = ${version};\n\n/** Every method, who sends it, and whether it is built. */\nexport const METHODS = {\n${names}\n} as const;\n`;
}

const fresh = await generate();
if (process.argv.includes("--check")) {
  if ((await readFile(target, "utf8").catch(() => "")) !== fresh) {
    process.stderr.write(
      "src/protocol.ts is out of step with protocol/schema.json: run `npm run protocol`\n",
    );
    process.exit(1);
  }
} else {
  await writeFile(target, fresh);
}
