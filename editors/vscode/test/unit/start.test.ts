// Finding and restarting the sidecar. Must never start a process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "../../src/model/backoff.ts";
import { findBinary, type Places } from "../../src/model/find.ts";

function find(files: string[], change: Partial<Places> = {}) {
  return findBinary({
    setting: "",
    extensionFolder: "/ext",
    path: "/usr/bin:relative:/opt/bin",
    windows: false,
    home: "/home/p",
    runnable: (file) => files.includes(file),
    ...change,
  });
}

test("setting, then bundled, then PATH", () => {
  const all = ["/own/toolgate", "/ext/bin/toolgate", "/opt/bin/toolgate"];
  assert.deepEqual(find(all, { setting: "/own/toolgate" }), { file: "/own/toolgate", from: "setting" });
  assert.deepEqual(find(all), { file: "/ext/bin/toolgate", from: "bundled" });
  assert.deepEqual(find(["/opt/bin/toolgate"]), { file: "/opt/bin/toolgate", from: "path" });
  assert.deepEqual(find(["/home/p/t"], { setting: "~/t" }), { file: "/home/p/t", from: "setting" });
});

test("a wrong setting is said, and nothing of the workspace is run", () => {
  assert.match(JSON.stringify(find(["/opt/bin/toolgate"], { setting: "/gone" })), /names.*\/gone/);
  assert.match(JSON.stringify(find(["./toolgate"], { setting: "./toolgate" })), /absolute/);
  assert.match(JSON.stringify(find(["relative/toolgate"])), /No .*toolgate.* found/);
});

test("pauses grow, a healthy life starts anew, too many deaths give up", () => {
  const backoff = new Backoff();
  assert.deepEqual(
    [0, 0, 0, 0, 0, 0, 0].map((now) => backoff.died(now)),
    [500, 1_000, 2_000, 4_000, 8_000, 16_000, undefined],
  );
  backoff.reset();
  backoff.started(1_000);
  assert.equal(backoff.died(2_000), 500);
  backoff.started(3_000);
  assert.equal(backoff.died(63_000), 500);
});
