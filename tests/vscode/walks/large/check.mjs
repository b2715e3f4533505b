// What the model was told in the walk through large contents. Must never look at wording more than
// a reader of the outcome would need.
import assert from "node:assert/strict";

const text = (request) => JSON.stringify(request.messages.at(-1).content);

/** The claims, each with its check. */
export function check(requests) {
  return [
    ["three requests", () => assert.equal(requests.length, 3)],
    ["the large file was written", () => assert.match(text(requests[1]), /big\.txt \(3001 lines\)/)],
    ["the model got the output's ends, not all of it", () => {
      assert.match(text(requests[2]), /row 9000/);
      assert.doesNotMatch(text(requests[2]), /row 5000/);
    }],
  ];
}
