// What the person attached to the next prompt. Must never attach anything by itself.
import { relative } from "node:path";
import * as vscode from "vscode";
import { Signal } from "../model/signal.ts";
import type { PromptBlock } from "../protocol.ts";
import type { Attachment } from "./messages.ts";

/** Attachments that wait for the next prompt. */
export class PromptContext {
  readonly changed = new Signal<void>();
  private entries: { label: string; block: PromptBlock }[] = [];

  /** For the panel. */
  list(): Attachment[] {
    return this.entries.map(({ label }) => ({ label }));
  }

  /** Takes the selection of the active editor. */
  addSelection(): boolean {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined || editor.selection.isEmpty) {
      return false;
    }
    const { selection, document } = editor;
    this.add(`${nameOf(document.uri)}:${selection.start.line + 1}-${selection.end.line + 1}`, {
      type: "selection",
      uri: document.uri.toString(),
      startLine: selection.start.line,
      endLine: selection.end.line,
      text: document.getText(selection),
    });
    return true;
  }

  /** Takes a file, or the one in the active editor. */
  addFile(file: vscode.Uri | undefined): boolean {
    const uri = file ?? vscode.window.activeTextEditor?.document.uri;
    if (uri?.scheme !== "file") {
      return false;
    }
    this.add(nameOf(uri), { type: "resource_link", uri: uri.toString() });
    return true;
  }

  /** Takes one back. */
  remove(index: number): void {
    this.entries.splice(index, 1);
    this.changed.fire();
  }

  /** The blocks of the prompt that is sent now; nothing waits afterwards. */
  take(): PromptBlock[] {
    const blocks = this.entries.map(({ block }) => block);
    this.entries = [];
    this.changed.fire();
    return blocks;
  }

  private add(label: string, block: PromptBlock): void {
    this.entries.push({ label, block });
    this.changed.fire();
  }
}

function nameOf(uri: vscode.Uri): string {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return folder === undefined ? uri.fsPath : relative(folder.uri.fsPath, uri.fsPath);
}
