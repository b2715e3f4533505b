// Puts the panel's parts together and hands each message to its part. Must never decide anything.
import type { Health, ToPanel } from "../panel/messages.ts";
import { AskPanel } from "./ask.ts";
import { pageCame } from "./card.ts";
import { Composer } from "./composer.ts";
import { button, el, post, t } from "./dom.ts";
import { ItemList } from "./list.ts";

const list = new ItemList();
const composer = new Composer();
const health = el("div", { class: "health", role: "alert" });
const failure = el("p", { class: "notice error", role: "alert" });
const ask = new AskPanel(document.body);
health.hidden = true;
failure.hidden = true;
document.body.append(health, list.element, composer.plan, ask.element, failure, composer.element);

function showHealth({ state, problems }: Health): void {
  health.hidden = problems.length === 0;
  const act = (command: "restart" | "showLog" | "demo") => () => post({ type: "command", command });
  health.replaceChildren(
    ...problems.map((problem) => el("p", {}, `⚠ ${problem}`)),
    el(
      "div",
      { class: "row" },
      state === "ready" ? button(t("demo"), act("demo")) : button(t("retry"), act("restart")),
      button(t("showLog"), act("showLog")),
    ),
  );
}

function receive(message: ToPanel): void {
  switch (message.type) {
    case "reset":
      list.reset(message.items);
      return composer.header(message.header);
    case "items":
      return list.update(message.items, message.dropped, message.appends);
    case "header":
      return composer.header(message.header);
    case "health":
      return showHealth(message.health);
    case "asks":
      return ask.show(message.asks, message.waiting);
    case "page":
      return pageCame(message.contentRef, message.text, message.next, message.total);
    case "attachments":
      return composer.attachments(message.attachments);
    case "failed":
      failure.hidden = false;
      failure.textContent = `✗ ${message.text}`;
      return composer.failed();
    case "sent":
      failure.hidden = true;
      return composer.sent();
    case "focus":
      return composer.focus();
  }
}

window.addEventListener("message", (event) => receive(event.data as ToPanel));
post({ type: "ready" });
