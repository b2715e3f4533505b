// Gathers what a session tells into few messages, so that a fast stream does not flood the webview.
// Must never lose or reorder text.
import type { Header, Item } from "../model/items.ts";
import type { Delta } from "../model/projection.ts";
import type { Disposable } from "../model/signal.ts";
import type { ToPanel } from "./messages.ts";

/** Milliseconds between two messages: what an eye can follow. */
const EVERY_MS = 33;

/** Gathers deltas. */
export class Batch implements Disposable {
  private items = new Map<string, Item>();
  private appends = new Map<string, string>();
  private dropped: string[] = [];
  private header: Header | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly post: (message: ToPanel) => void) {}

  /** Takes one delta. */
  add(delta: Delta, header: Header): void {
    for (const item of delta.items) {
      this.items.set(item.id, item);
    }
    // An item that is sent whole holds its text already.
    if (delta.append !== undefined && !this.items.has(delta.append.id)) {
      const { id, text } = delta.append;
      this.appends.set(id, (this.appends.get(id) ?? "") + text);
    }
    this.dropped.push(...delta.dropped);
    if (delta.header) {
      this.header = header;
    }
    this.timer ??= setTimeout(() => this.flush(), EVERY_MS);
  }

  /** Forgets what was gathered: everything is sent anew. */
  clear(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.items.clear();
    this.appends.clear();
    this.dropped = [];
    this.header = undefined;
  }

  dispose(): void {
    this.clear();
  }

  private flush(): void {
    const items = [...this.items.values()];
    const appends = [...this.appends].map(([id, text]) => ({ id, text }));
    const { dropped, header } = this;
    this.clear();
    if (items.length > 0 || appends.length > 0 || dropped.length > 0) {
      this.post({ type: "items", items, dropped, appends });
    }
    if (header !== undefined) {
      this.post({ type: "header", header });
    }
  }
}
