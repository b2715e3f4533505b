// The tree of files that the session changed. Must never read or change one.
import { basename } from "node:path";
import * as vscode from "vscode";
import type { Disposable } from "../model/signal.ts";
import type { Session } from "../session/session.ts";

/** The tree view. */
export class ChangedFiles implements vscode.TreeDataProvider<string>, Disposable {
  private readonly news = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.news.event;
  private readonly subscriptions: Disposable[];

  constructor(private readonly session: Session) {
    this.subscriptions = [
      this.news,
      vscode.window.registerTreeDataProvider("toolgate.changedFiles", this),
      session.changed.on((delta) => {
        if (delta === undefined || delta.header) {
          const count = this.getChildren().length;
          void vscode.commands.executeCommand("setContext", "toolgate.changedFiles", count);
          this.news.fire(undefined);
        }
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  getChildren(): string[] {
    return this.session.projection.header.changedFiles;
  }

  getTreeItem(path: string): vscode.TreeItem {
    const uri = vscode.Uri.file(path);
    const item = new vscode.TreeItem(basename(path));
    item.resourceUri = uri;
    item.description = vscode.workspace.asRelativePath(uri);
    item.tooltip = path;
    item.command = { title: vscode.l10n.t("Open"), command: "vscode.open", arguments: [uri] };
    return item;
  }
}
