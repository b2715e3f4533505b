// What the model was told after its sidecar went away. Must never look at wording more than a
// reader of the outcome would need.
import assert from "node:assert/strict";

/** The claims, each with its check. */
export function check(requests) {
  const text = JSON.stringify(requests.at(-1).messages);
  return [
    ["three requests", () => assert.equal(requests.length, 3)],
    ["the session goes on with what was said", () => assert.match(text, /look at it.*go on/)],
    ["the call that waited has a result", () => assert.match(text, /"tool_use_id":"toolu_2"/)],
  ];
}
