// The extension as VS Code loads it, with the real sidecar. Must never press keys: the walk does.
import assert from "node:assert/strict";
import * as vscode from "vscode";
import type { Test } from "./index.ts";
import { until } from "./kit.ts";

/** Every command that the manifest offers. */
function offered(): string[] {
  const manifest = vscode.extensions.getExtension("toolgate.toolgate")?.packageJSON;
  return manifest.contributes.commands.map(({ command }: { command: string }) => command);
}

export const extension: Test[] = [
  [
    "it activates by itself and registers every command that it offers",
    async () => {
      const found = await until("the extension", () => vscode.extensions.getExtension("toolgate.toolgate"));
      await until("its activation", () => (found.isActive ? true : undefined));
      const known = await vscode.commands.getCommands(true);
      assert.deepEqual(
        offered().filter((command) => !known.includes(command)),
        [],
      );
    },
  ],
];
