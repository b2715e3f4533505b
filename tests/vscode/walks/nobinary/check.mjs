// Without a sidecar nothing reaches a model.
import assert from "node:assert/strict";

/** The claims, each with its check. */
export const check = (requests) => [["no request", () => assert.equal(requests.length, 0)]];
