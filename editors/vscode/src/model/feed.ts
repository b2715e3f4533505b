// Puts a session's numbered updates in order. Must never let an update through twice or skip one.
import type { SessionUpdate, Since } from "../protocol.ts";

/** What to do with an update. */
export type Verdict = "apply" | "ignore" | "gap";

/** Knows the last update that was applied. */
export class Feed {
  private last: Since | undefined;

  /** The last update applied: what `session/load` wants to know. */
  get since(): Since | undefined {
    return this.last;
  }

  /** Forgets everything. */
  reset(): void {
    this.last = undefined;
  }

  /** Judges an update that arrived by itself. */
  judge(update: SessionUpdate): Verdict {
    if (this.last === undefined) {
      return "apply";
    }
    if (this.last.epoch !== update.epoch) {
      return "gap";
    }
    if (update.seq <= this.last.seq) {
      return "ignore";
    }
    return update.seq === this.last.seq + 1 ? "apply" : "gap";
  }

  /** An update was applied. */
  applied(update: SessionUpdate): void {
    this.last = { epoch: update.epoch, seq: update.seq };
  }
}
