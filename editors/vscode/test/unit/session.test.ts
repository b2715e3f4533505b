// A session against a scripted wire: order, gaps, restarts, prompts. Must never reach inside the
// session: what counts is what it asks for and what it shows.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item } from "../../src/model/items.ts";
import type { AskOpened, LoadSessionResult, SessionInfo, SessionUpdate, Update } from "../../src/protocol.ts";
import { Session } from "../../src/session/session.ts";

const info = (epoch = "e1"): SessionInfo => ({
  sessionId: "s",
  epoch,
  cwd: "/w",
  mode: "default",
  model: "m",
});

function update(seq: number, what: Update, epoch = "e1", sessionId = "s"): SessionUpdate {
  return { sessionId, epoch, seq, update: what };
}

const say = (text: string): Update => ({ kind: "agent_message_delta", text });

/** A sidecar that answers as told and writes down what it was asked. */
class Script {
  readonly asked: [string, object][] = [];
  answers: Record<string, (params: object) => unknown> = {
    "toolgate/session/new": () => info(),
    "toolgate/session/prompt": () => ({ turnId: "t" }),
  };

  request<R>(method: string, params: object): Promise<R> {
    this.asked.push([method, params]);
    const answer = this.answers[method];
    return answer === undefined
      ? Promise.reject(new Error(`no answer to ${method}`))
      : Promise.resolve().then(() => answer(params) as R);
  }

  async notify(method: string, params: object): Promise<void> {
    this.asked.push([method, params]);
  }
}

function begin(stored?: string) {
  const script = new Script();
  let kept = stored;
  const memory = {
    get: () => kept,
    set: (id: string | undefined) => {
      kept = id;
    },
  };
  const session = new Session(script, memory, () => 1_000);
  return { script, session, kept: () => kept };
}

const texts = (session: Session): string[] =>
  [...session.projection.items.values()].map((item: Item) => ("text" in item ? item.text : item.kind));

test("the first prompt makes a session, once, and updates may overtake the answer", async () => {
  const { script, session, kept } = begin();
  script.answers["toolgate/session/new"] = () => {
    session.update(update(1, { kind: "mode", mode: "plan" }));
    session.update(update(1, { kind: "mode", mode: "default" }, "e1", "another"));
    return info();
  };
  await Promise.all([
    session.prompt([{ type: "text", text: "a" }], "next_request"),
    session.prompt([{ type: "text", text: "b" }], "next_request"),
  ]);
  assert.deepEqual(
    script.asked.map(([method]) => method),
    ["toolgate/session/new", "toolgate/session/prompt", "toolgate/session/prompt"],
  );
  assert.equal(session.projection.header.mode, "plan");
  assert.equal(kept(), "s");
});

test("updates are applied once, in order; a gap loads what is missing", async () => {
  const { script, session } = begin();
  await session.prompt([{ type: "text", text: "a" }], "next_request");
  session.update(update(1, say("one ")));
  session.update(update(1, say("one ")));
  const page: LoadSessionResult = {
    session: info(),
    reset: false,
    updates: [update(2, say("two "))],
    more: false,
    asks: [],
  };
  script.answers["toolgate/session/load"] = () => {
    session.update(update(4, say("four")));
    page.updates.push(update(3, say("three ")));
    return page;
  };
  const loaded = new Promise<void>((resolve) => session.changed.on((delta) => delta ?? resolve()));
  session.update(update(3, say("three ")));
  await loaded;
  assert.deepEqual(texts(session), ["one two three four"]);
  assert.deepEqual(script.asked.at(-1)?.[1], { sessionId: "s", since: { epoch: "e1", seq: 1 } });
});

test("after a restart the session is loaded again, page by page, and open prompts are back", async () => {
  const { script, session } = begin("s");
  const ask: AskOpened = {
    sessionId: "s",
    askId: "a",
    ask: { kind: "trust", folder: "/w", wants: [], options: [] },
  };
  const pages: LoadSessionResult[] = [
    { session: info("e2"), reset: true, updates: [update(1, say("x"), "e2")], more: true, asks: [] },
    { session: info("e2"), reset: false, updates: [update(2, say("y"), "e2")], more: false, asks: [ask] },
  ];
  script.answers["toolgate/session/load"] = () => pages.shift();
  await session.connected();
  assert.deepEqual(texts(session), ["xy"]);
  assert.deepEqual(
    script.asked.map(([, params]) => params),
    [{ sessionId: "s" }, { sessionId: "s", since: { epoch: "e2", seq: 1 } }],
  );
  assert.equal(session.asks.list().length, 1);
});

test("a session that is gone is said and forgotten", async () => {
  const { session, kept } = begin("old");
  const said: string[] = [];
  session.failed.on((text) => said.push(text));
  await session.connected();
  assert.deepEqual(said, ["no answer to toolgate/session/load"]);
  assert.equal(kept(), undefined);
  assert.equal(session.sessionId, undefined);
});

test("an answer that is refused leaves the prompt open and is said", async () => {
  const { script, session } = begin();
  await session.prompt([{ type: "text", text: "a" }], "next_request");
  session.askOpened({
    sessionId: "s",
    askId: "a",
    ask: { kind: "trust", folder: "/w", wants: [], options: [] },
  });
  const said: string[] = [];
  session.failed.on((text) => said.push(text));
  const [ask] = session.asks.list();
  assert.ok(ask);
  await session.answer(ask, session.asks.answer(ask, "reject_once", ""));
  assert.equal(said.length, 1);
  assert.equal(session.asks.list()[0]?.answering, false);
  script.answers["toolgate/ask/answer"] = () => ({ askId: "a" });
  await session.answer(ask, session.asks.answer(ask, "reject_once", ""));
  assert.equal(session.asks.list().length, 0);
});
