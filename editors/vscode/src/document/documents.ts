// Edits and saves open documents for the sidecar (spec: files.md, "Open documents"). Must never
// change a text that is not the one the edit was made for, and never open or touch a closed file.
import * as vscode from "vscode";
import { hashText, type Plan, planEdit } from "../model/lines.ts";
import type {
  DocumentEditParams,
  DocumentEditResult,
  DocumentSaveParams,
  DocumentSaveResult,
} from "../protocol.ts";
import type { SentVersions } from "../sidecar/sent.ts";

/** The editor's documents, as the sidecar may change them. */
export class Documents {
  constructor(private readonly sent: SentVersions) {}

  /** `toolgate/document/edit`: all of it in one undo step, or nothing. */
  async edit(params: DocumentEditParams): Promise<DocumentEditResult> {
    const document = find(params.uri);
    if (document === undefined) {
      return { applied: false, version: 0, hash: "", reason: "the document is not open" };
    }
    const plan = planFor(document, params);
    if ("reason" in plan) {
      return outcome(document, plan.reason);
    }
    const edit = new vscode.WorkspaceEdit();
    edit.set(
      document.uri,
      plan.replacements.map(
        ({ start, end, text }) =>
          new vscode.TextEdit(new vscode.Range(start.line, start.character, end.line, end.character), text),
      ),
    );
    // The editor refuses the edit as a whole when the document changed since it was checked: the
    // extension host sends the version along.
    const applied = await vscode.workspace.applyEdit(edit);
    await this.sent.reached(document.uri.toString(), document.version);
    return outcome(
      document,
      applied ? undefined : "the editor refused the edit: the document changed meanwhile",
    );
  }

  /** `toolgate/document/save`. */
  async save(params: DocumentSaveParams): Promise<DocumentSaveResult> {
    const document = find(params.uri);
    if (document === undefined) {
      return { saved: false, reason: "the document is not open" };
    }
    const saved = await document.save();
    return saved && !document.isDirty
      ? { saved: true }
      : { saved: false, reason: "the editor did not save it" };
  }
}

function planFor(document: vscode.TextDocument, params: DocumentEditParams): Plan {
  const eol = document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
  return planEdit({ version: document.version, text: document.getText(), eol }, params);
}

function outcome(document: vscode.TextDocument, reason: string | undefined): DocumentEditResult {
  const { version } = document;
  const hash = hashText(document.getText());
  return reason === undefined ? { applied: true, version, hash } : { applied: false, version, hash, reason };
}

/** Looks an open document up; two spellings of one URI are compared in the editor's own form. */
function find(uri: string): vscode.TextDocument | undefined {
  let wanted: string;
  try {
    wanted = vscode.Uri.parse(uri, true).toString();
  } catch {
    // What is no URI names no open document.
    return undefined;
  }
  return vscode.workspace.textDocuments.find(
    (document) => !document.isClosed && document.uri.toString() === wanted,
  );
}
