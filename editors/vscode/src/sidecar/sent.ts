// Remembers which version of each document was written to the sidecar, so that an answer about a
// document is never sent before the change it speaks of. Must never hold document text.
import type { Middleware } from "vscode-languageclient/node";
import { Signal } from "../model/signal.ts";

/** Versions as they were sent. */
export class SentVersions {
  private readonly versions = new Map<string, number>();
  private readonly news = new Signal<void>();

  /** Watches the notifications on their way out. */
  middleware(): Middleware {
    return {
      didOpen: async (document, next) => {
        await next(document);
        this.note(document.uri.toString(), document.version);
      },
      didChange: async (event, next) => {
        const { version } = event.document;
        await next(event);
        this.note(event.document.uri.toString(), version);
      },
      didClose: async (document, next) => {
        this.versions.delete(document.uri.toString());
        this.news.fire();
        await next(document);
      },
    };
  }

  /** Forgets all: the sidecar that knew them is gone. */
  clear(): void {
    this.versions.clear();
    this.news.fire();
  }

  /** Resolves when this version was sent, or the document is no longer the sidecar's. */
  async reached(uri: string, version: number): Promise<void> {
    while ((this.versions.get(uri) ?? Number.POSITIVE_INFINITY) < version) {
      await new Promise<void>((resolve) => {
        const once = this.news.on(() => {
          once.dispose();
          resolve();
        });
      });
    }
  }

  private note(uri: string, version: number): void {
    this.versions.set(uri, Math.max(version, this.versions.get(uri) ?? 0));
    this.news.fire();
  }
}
