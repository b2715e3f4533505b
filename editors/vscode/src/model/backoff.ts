// How long to wait before the sidecar is started again, and when to give up.
// Must never read a clock: the caller says what time it is.

const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** A sidecar that lived this long was healthy: counting starts anew. */
const HEALTHY_MS = 60_000;
const MOST_TRIES = 6;

/** Counts deaths in a row. */
export class Backoff {
  private deaths = 0;
  private startedAt = 0;

  /** The sidecar answered `initialize`. */
  started(now: number): void {
    this.startedAt = now;
  }

  /** The sidecar died or could not start: milliseconds to wait, or undefined to give up. */
  died(now: number): number | undefined {
    if (this.startedAt > 0 && now - this.startedAt >= HEALTHY_MS) {
      this.deaths = 0;
    }
    this.startedAt = 0;
    this.deaths += 1;
    if (this.deaths > MOST_TRIES) {
      return undefined;
    }
    return Math.min(FIRST_MS * 2 ** (this.deaths - 1), LONGEST_MS);
  }

  /** The person asked for a new start. */
  reset(): void {
    this.deaths = 0;
    this.startedAt = 0;
  }
}
