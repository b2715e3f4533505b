// The prompt box and what stands around it: attachments, mode, usage, stop. Must never lose what
// was typed: a draft outlives a hidden panel, and is cleared only when the sidecar took it.
import type { Header } from "../model/items.ts";
import type { PanelString } from "../model/strings.ts";
import type { Attachment } from "../panel/messages.ts";
import type { Mode } from "../protocol.ts";
import { button, draft, el, post, t } from "./dom.ts";
import { plan } from "./payloads.ts";

const MODES: [Mode, PanelString][] = [
  ["default", "modeDefault"],
  ["acceptEdits", "modeAcceptEdits"],
  ["plan", "modePlan"],
  ["dontAsk", "modeDontAsk"],
  ["bypassPermissions", "modeBypassPermissions"],
];

/** The lower part of the panel. */
export class Composer {
  readonly element = el("footer", { class: "composer" });
  readonly plan = el("details", { class: "plan-box", open: true }, el("summary", {}, t("plan")));
  private readonly input = el("textarea", {
    rows: "3",
    "aria-label": t("promptLabel"),
    placeholder: t("promptPlaceholder"),
  });
  private readonly chips = el("div", { class: "chips" });
  private readonly usage = el("span", { class: "usage quiet" });
  private readonly mode = el("select", { "aria-label": t("mode"), title: t("mode") });
  private readonly send = button(t("send"), () => this.submit(false), { class: "primary" });
  private readonly sendNow = button(t("sendNow"), () => this.submit(true));
  private readonly stop = button(t("stop"), () => post({ type: "stop" }));
  private sending = false;

  constructor() {
    this.mode.append(...MODES.map(([value, key]) => el("option", { value }, t(key))));
    this.mode.addEventListener("change", () => post({ type: "setMode", mode: this.mode.value as Mode }));
    this.input.value = draft.get();
    this.input.addEventListener("input", () => draft.set(this.input.value));
    this.input.addEventListener("keydown", (event) => {
      // While an input method composes, Enter chooses a word.
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !event.ctrlKey && !event.altKey) {
        event.preventDefault();
        this.submit(false);
      }
    });
    this.element.append(
      this.chips,
      this.input,
      el("div", { class: "row" }, this.send, this.sendNow, this.stop, this.mode),
      this.usage,
    );
    this.plan.hidden = true;
  }

  /** Puts the cursor into the prompt. */
  focus(): void {
    this.input.focus();
  }

  /** The sidecar took the prompt. */
  sent(): void {
    this.sending = false;
    this.input.value = "";
    draft.set("");
  }

  /** The prompt was not taken: it stays. */
  failed(): void {
    this.sending = false;
  }

  /** Shows mode, usage, plan and whether a turn runs. */
  header(header: Header): void {
    const running = header.turnId !== undefined;
    this.sendNow.hidden = !running;
    this.stop.hidden = !running;
    this.mode.value = header.mode;
    const { inputTokens, outputTokens, cacheReadTokens } = header.usage;
    const used = inputTokens + outputTokens > 0 ? t("usage", inputTokens, outputTokens, cacheReadTokens) : "";
    this.usage.textContent = [header.model, used].filter(Boolean).join(" · ");
    this.plan.hidden = header.plan.length === 0;
    this.plan.replaceChildren(el("summary", {}, t("plan")), plan(header.plan));
  }

  /** Shows what goes with the next prompt. */
  attachments(attachments: Attachment[]): void {
    this.chips.replaceChildren(
      ...attachments.map(({ label }, index) =>
        button(`${label} ×`, () => post({ type: "detach", index }), {
          class: "chip",
          "aria-label": t("attachRemove", label),
        }),
      ),
    );
  }

  private submit(interrupt: boolean): void {
    const text = this.input.value;
    if (text.trim() !== "" && !this.sending) {
      this.sending = true;
      post({ type: "send", text, interrupt });
    }
  }
}
