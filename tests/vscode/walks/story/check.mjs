// What the model was told in the story: every result, in order, the rejected hunk, the unsaved file.
// Must never look at wording more than a reader of the outcome would need.
import assert from "node:assert/strict";

/** The results of a request's last message, by call. */
function results(request) {
  return request.messages.at(-1).content.filter((block) => block.type === "tool_result");
}

const text = (result) => JSON.stringify(result.content);

/** The claims, each with its check. */
export function check(requests) {
  return [
    ["four requests", () => assert.equal(requests.length, 4)],
    [
      "both Reads are answered, in the order of the calls",
      () => {
        const both = results(requests[1]);
        assert.deepEqual(both.map((result) => result.tool_use_id), ["toolu_1", "toolu_2"]);
        assert.match(text(both[0]), /mine = 5/, "the model reads the unsaved buffer");
      },
    ],
    [
      "the model is told which hunk was rejected",
      () => {
        const [edit] = results(requests[2]);
        assert.equal(edit.tool_use_id, "toolu_3");
        assert.match(text(edit), /reject/i);
        assert.match(text(edit), /gamma = 30/);
      },
    ],
    ["the test run names the unsaved file", () => assert.match(text(results(requests[3])[0]), /app\.txt/)],
    ["the test run's output came", () => assert.match(text(results(requests[3])[0]), /case 3 ok/)],
  ];
}
