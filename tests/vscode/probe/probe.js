// Test instrument: answers on a Unix socket what the active text document holds, because a browser
// sees only the lines that are drawn. Must never change a document.
const http = require("node:http");
const vscode = require("vscode");

/** Called by VS Code when the extension starts. */
exports.activate = (context) => {
  const socket = process.env.TOOLGATE_PROBE;
  if (!socket) {
    return;
  }
  const server = http.createServer((_request, response) => {
    const document = vscode.window.activeTextEditor?.document;
    const state = document && {
      uri: document.uri.toString(),
      text: document.getText(),
      version: document.version,
      dirty: document.isDirty,
    };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(state ?? null));
  });
  server.listen(socket);
  context.subscriptions.push({ dispose: () => server.close() });
};
