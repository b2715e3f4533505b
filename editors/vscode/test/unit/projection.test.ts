// Updates become items. Must never depend on a clock: the time is given.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallItem } from "../../src/model/items.ts";
import { MOST_ITEMS, Projection } from "../../src/model/projection.ts";
import type { SessionUpdate, Update } from "../../src/protocol.ts";

const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };

function play(...updates: (Update | SessionUpdate)[]): Projection {
  const projection = new Projection();
  updates.forEach((what, i) => {
    const message = "update" in what ? what : { sessionId: "s", epoch: "e", seq: i + 1, update: what };
    projection.apply(message, 1_000 + i);
  });
  return projection;
}

const started = (callId: string): Update => ({
  kind: "call_started",
  callId,
  tool: "Bash",
  callKind: "execute",
  title: callId,
  locations: [],
});

const kinds = (projection: Projection) => [...projection.items.values()].map((item) => item.kind);

test("text grows in one item until something else happens", () => {
  const say = (text: string): Update => ({ kind: "agent_message_delta", text });
  const projection = play(say("a"), say("b"), started("c"), say("c"), { kind: "thought_delta", text: "t" });
  assert.deepEqual(kinds(projection), ["agent", "call", "agent", "thought"]);
  const [first] = projection.items.values();
  assert.ok(first?.kind === "agent" && first.text === "ab");
});

test("a call goes through its states and settles", () => {
  const projection = play(
    started("c"),
    { kind: "call_state", callId: "c", state: "waiting", waits: "after Edit a.rs" },
    { kind: "call_state", callId: "c", state: "running" },
    { kind: "call_progress", callId: "c", text: "line\n".repeat(10_000), bytes: 50_000 },
  );
  const call = projection.call("c") as CallItem;
  assert.equal(call.startedAt, 1_002);
  assert.equal(call.waits, undefined);
  assert.ok(call.progress.length <= 8_000);
  const content = { payload: { kind: "text", text: "out" } } as const;
  const settled: Update = { kind: "call_settled", callId: "c", status: "failed", content, durationMs: 7 };
  projection.apply({ sessionId: "s", epoch: "e", seq: 5, update: settled }, 0);
  assert.equal(call.state, undefined);
  assert.equal(call.status, "failed");
  assert.equal(call.progress, "");
});

test("a turn's end clears it and says why it was not a simple end", () => {
  const ended = (stopReason: "end_turn" | "error"): Update => ({
    kind: "turn_ended",
    turnId: "t",
    stopReason,
    message: "529",
    usage,
  });
  const projection = play({ kind: "turn_started", turnId: "t" }, ended("end_turn"));
  assert.equal(projection.header.turnId, undefined);
  assert.equal(projection.header.usage.cacheReadTokens, 3);
  assert.deepEqual(kinds(projection), []);
  assert.deepEqual(kinds(play({ kind: "turn_started", turnId: "t" }, ended("error"))), ["end"]);
});

test("nested agents are deeper and write texts of their own", () => {
  const nested: SessionUpdate = {
    sessionId: "s",
    epoch: "e",
    seq: 3,
    agentId: "a",
    parentCallId: "c",
    update: { kind: "agent_message_delta", text: "inner" },
  };
  const projection = play(started("c"), { kind: "agent_message_delta", text: "outer" }, nested, {
    kind: "agent_message_delta",
    text: " more",
  });
  const items = [...projection.items.values()];
  assert.deepEqual(
    items.map((item) => [item.depth, "text" in item ? item.text : ""]),
    [
      [0, ""],
      [0, "outer more"],
      [1, "inner"],
    ],
  );
});

test("a long session drops its oldest items and an unknown update changes nothing", () => {
  const projection = play();
  let dropped = 0;
  for (let i = 0; i < MOST_ITEMS + 10; i++) {
    const delta = projection.apply({ sessionId: "s", epoch: "e", seq: i, update: started(`c${i}`) }, 0);
    dropped += delta.dropped.length;
  }
  assert.equal(projection.items.size, MOST_ITEMS);
  assert.equal(dropped, 10);
  assert.equal(projection.call("c0"), undefined);
  const unknown = { kind: "something_new" } as unknown as Update;
  const delta = projection.apply({ sessionId: "s", epoch: "e", seq: 1, update: unknown }, 0);
  assert.deepEqual(delta, { items: [], dropped: [], header: false });
});
