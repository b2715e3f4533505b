// Fetches the pages of prompts whose content was too large for one message. Must never call a
// prompt whole before its last page came.
import type { AskQueue } from "../model/asks.ts";
import { permissionOf } from "../model/asks.ts";
import { Signal } from "../model/signal.ts";
import { reason, type Session } from "../session/session.ts";
import type { Pages } from "./askview.ts";

/** The pages of all open prompts. */
export class AskPages {
  /** A page came. */
  readonly changed = new Signal<void>();
  private readonly pages = new Map<string, Pages>();

  constructor(
    private readonly session: Session,
    private readonly asks: AskQueue,
  ) {
    asks.changed.on(() => this.refresh());
  }

  /** What is here of a prompt's content; undefined when it came whole. */
  of(askId: string): Pages | undefined {
    return this.pages.get(askId);
  }

  /** Tries again what failed. */
  retry(askId: string): void {
    if (this.pages.get(askId)?.failed !== undefined) {
      this.pages.delete(askId);
      this.refresh();
    }
  }

  private refresh(): void {
    for (const askId of [...this.pages.keys()]) {
      if (this.asks.get(askId) === undefined) {
        this.pages.delete(askId);
      }
    }
    for (const { opened } of this.asks.list()) {
      const content = permissionOf(opened.ask)?.content;
      if (content?.contentRef && !this.pages.has(opened.askId)) {
        const total = content.totalBytes ?? 0;
        const pages: Pages = { text: "", bytes: 0, total, done: false, failed: undefined };
        this.pages.set(opened.askId, pages);
        void this.fetch(opened.askId, content.contentRef, pages);
      }
    }
  }

  private async fetch(askId: string, contentRef: string, pages: Pages): Promise<void> {
    try {
      let offset: number | undefined = 0;
      while (offset !== undefined && this.pages.get(askId) === pages) {
        const page = await this.session.page(contentRef, offset);
        // A page that does not go forward would be fetched for ever.
        if (page.next != null && page.next <= offset) {
          throw new Error("the sidecar's pages do not go forward");
        }
        pages.text += page.text;
        pages.bytes = page.next ?? page.totalBytes;
        pages.total = page.totalBytes;
        offset = page.next ?? undefined;
        this.changed.fire();
      }
      pages.done = true;
      this.asks.fetched(askId);
    } catch (error) {
      pages.failed = reason(error);
    }
    this.changed.fire();
  }
}
