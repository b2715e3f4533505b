// What the person says to prompts, from whatever surface: one place, so that every surface obeys
// the same guard. Must never let an allowing answer through that the queue does not call ready.
import * as vscode from "vscode";
import { allows, type OpenAsk, type Readiness } from "../model/asks.ts";
import type { OptionKind } from "../protocol.ts";
import type { Session } from "../session/session.ts";

/** Gives answers in the person's name. */
export class Answers {
  constructor(
    private readonly session: Session,
    private readonly clock: () => number,
  ) {}

  /** Why allowing is not possible now, or undefined. */
  hindrance(ask: OpenAsk): string | undefined {
    return explain(this.session.asks.readiness(ask, this.clock()));
  }

  /** Chooses an option. Says why when it can't be chosen now. */
  async choose(askId: string, option: OptionKind, message = ""): Promise<string | undefined> {
    const ask = this.session.asks.get(askId);
    if (ask === undefined) {
      return vscode.l10n.t("This prompt is closed already.");
    }
    if (!ask.opened.ask.options.some((offered) => offered.option === option)) {
      return vscode.l10n.t("This prompt does not offer that.");
    }
    const hindrance = allows(option) ? this.hindrance(ask) : ask.answering ? explain("answering") : undefined;
    if (hindrance === undefined) {
      await this.session.answer(ask, this.session.asks.answer(ask, option, message));
    }
    return hindrance;
  }

  /** Accepts or rejects hunks; the last decision answers the prompt. */
  async hunks(askId: string, hunkIds: string[], accept: boolean): Promise<string | undefined> {
    const ask = this.session.asks.get(askId);
    if (ask === undefined) {
      return vscode.l10n.t("This prompt is closed already.");
    }
    // A hunk is read where it is shown, in the file or the panel: having scrolled to the end of the
    // panel's box is not asked for.
    const readiness = this.session.asks.readiness(ask, this.clock());
    const hindrance = readiness === "not_read" ? undefined : explain(readiness);
    if (hindrance !== undefined && (accept || ask.answering)) {
      return hindrance;
    }
    if (this.session.asks.decide(askId, hunkIds, accept)) {
      await this.session.answer(ask, this.session.asks.verdict(ask));
    }
    return undefined;
  }
}

function explain(readiness: Readiness): string | undefined {
  switch (readiness) {
    case "ready":
      return undefined;
    case "answering":
      return vscode.l10n.t("An answer is already on its way.");
    case "not_shown":
      return vscode.l10n.t("The prompt was not on the screen yet: read it first.");
    case "too_soon":
      return vscode.l10n.t("The prompt appeared only now: keys are ignored for half a second.");
    case "not_fetched":
      return vscode.l10n.t("The whole content is not here yet.");
    case "not_read":
      return vscode.l10n.t("Read the prompt to its end in the panel, then allow.");
  }
}
