// What the host tests share. Must never wait for a time: only for something to become true.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";

/** Waits until `probe` gives a value; fails after a deadline that only a hang reaches. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const end = Date.now() + 30_000;
  for (;;) {
    const value = await probe();
    if (value !== undefined) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`waited 30 s for ${what}`);
    }
    // Lets the editor go on between two looks.
    await new Promise((next) => setTimeout(next, 20));
  }
}

let count = 0;

/** Opens a new file of the workspace with this text in an editor. */
export async function openFile(text: string): Promise<vscode.TextEditor> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  count += 1;
  const file = join(folder, `file-${count}.txt`);
  await writeFile(file, text);
  return vscode.window.showTextDocument(vscode.Uri.file(file));
}

/** Types at a place, as the person would. */
export async function type(editor: vscode.TextEditor, line: number, character: number, text: string) {
  await editor.edit((edit) => edit.insert(new vscode.Position(line, character), text));
}
