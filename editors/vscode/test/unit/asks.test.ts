// The queue of prompts and its guard. Must never let a test pass an allowing answer early.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AskQueue, type OpenAsk } from "../../src/model/asks.ts";
import type { AskOpened, Content, Hunk } from "../../src/protocol.ts";

const hunk = (hunkId: string): Hunk => ({
  hunkId,
  oldStart: 0,
  oldLines: ["a"],
  newStart: 0,
  newLines: ["b"],
  state: "proposed",
});

function opened(askId: string, content: Content, digest = "d"): AskOpened {
  return {
    sessionId: "s",
    askId,
    ask: {
      kind: "permission",
      callId: "c",
      tool: "Bash",
      callKind: "execute",
      title: "Run it",
      traits: { readOnly: false, destructive: false, openWorld: false },
      content,
      why: { text: "no rule" },
      options: [
        { option: "reject_once", label: "Deny" },
        { option: "allow_once", label: "Allow" },
      ],
      digest,
    },
  };
}

const text: Content = { payload: { kind: "text", text: "rm -rf build" } };
const diff: Content = {
  payload: { kind: "diff", path: "/a", creates: false, hunks: [hunk("h1"), hunk("h2")] },
};

function queue(content: Content): { asks: AskQueue; ask: () => OpenAsk } {
  const asks = new AskQueue();
  asks.add(opened("a", content));
  return {
    asks,
    ask: () => {
      const found = asks.get("a");
      assert.ok(found);
      return found;
    },
  };
}

test("allowing needs half a second of being seen, and the end of the content", () => {
  const { asks, ask } = queue(text);
  assert.equal(asks.readiness(ask(), 10_000), "not_shown");
  asks.shown("a", 10_000);
  assert.equal(asks.readiness(ask(), 10_499), "too_soon");
  assert.equal(asks.readiness(ask(), 10_500), "not_read");
  asks.read("a");
  assert.equal(asks.readiness(ask(), 10_500), "ready");
  asks.shown("a", 10_400);
  assert.equal(asks.readiness(ask(), 10_500), "ready", "being shown again does not begin the guard anew");
  asks.answering("a", true);
  assert.equal(asks.readiness(ask(), 10_500), "answering");
});

test("content that did not come whole must be fetched first", () => {
  const { asks, ask } = queue({ ...text, contentRef: "r", totalBytes: 100_000 });
  asks.shown("a", 0);
  asks.read("a");
  assert.equal(asks.readiness(ask(), 1_000), "not_fetched");
  asks.fetched("a");
  assert.equal(asks.readiness(ask(), 1_000), "ready");
});

test("the last hunk decides: allow once with what was said of each, reject when none is taken", () => {
  const { asks, ask } = queue(diff);
  assert.equal(asks.decide("a", ["h1"], true), false);
  assert.equal(asks.decide("a", ["h2"], false), true);
  assert.deepEqual(asks.verdict(ask()), {
    askId: "a",
    digest: "d",
    option: "allow_once",
    hunks: [
      { hunkId: "h1", accept: true },
      { hunkId: "h2", accept: false },
    ],
  });
  assert.equal(asks.decide("a", ["h1"], false), true);
  assert.equal(asks.verdict(ask()).option, "reject_once");
});

test("an option takes the decisions about hunks along, a refusal takes a word to the model", () => {
  const { asks, ask } = queue(diff);
  asks.decide("a", ["h2"], false);
  assert.deepEqual(asks.answer(ask(), "allow_once", "").hunks, [{ hunkId: "h2", accept: false }]);
  assert.deepEqual(asks.answer(ask(), "reject_once", "use tabs"), {
    askId: "a",
    digest: "d",
    option: "reject_once",
    message: "use tabs",
  });
});

test("hunks of another prompt and of a closed one are not decided", () => {
  const { asks } = queue(diff);
  assert.equal(asks.decide("a", ["h9"], true), false);
  asks.close("a");
  assert.equal(asks.decide("a", ["h1", "h2"], true), false);
  assert.equal(asks.list().length, 0);
});

test("a prompt announced again keeps what was said; one with another digest begins anew", () => {
  const { asks, ask } = queue(diff);
  asks.shown("a", 5);
  asks.decide("a", ["h1"], true);
  asks.replace([opened("a", diff), opened("b", text)]);
  assert.equal(ask().decisions.get("h1"), true);
  assert.equal(ask().shownAt, 5);
  asks.replace([opened("a", diff, "other")]);
  assert.equal(ask().decisions.size, 0);
  assert.equal(ask().shownAt, undefined);
  assert.equal(asks.get("b"), undefined);
});
