// What VS Code gives a webview. Must hold declarations only.
interface WebviewHost {
  postMessage(message: unknown): void;
  getState(): { draft: string } | undefined;
  setState(state: { draft: string }): void;
}
declare function acquireVsCodeApi(): WebviewHost;
