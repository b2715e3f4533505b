// A value's news, without `vscode`: so that the model can be tested by the plain test runner.
// Must never swallow a listener's error silently: one listener's fault is handed to `onFault`.

/** Ends something. */
export interface Disposable {
  dispose(): void;
}

/** Where a listener's error goes; the extension points it at its log. */
export const faults: { report: (error: unknown) => void } = {
  report: (error) => {
    throw error;
  },
};

/** Tells its listeners, in the order in which they came. */
export class Signal<T> {
  private readonly listeners = new Set<(value: T) => void>();

  /** Listens until disposed. */
  on(listener: (value: T) => void): Disposable {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** Tells all; a listener that throws does not keep the others from hearing it. */
  fire(value: T): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(value);
      } catch (error) {
        faults.report(error);
      }
    }
  }
}
