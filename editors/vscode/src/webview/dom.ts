// Makes elements. Must never take markup: all text goes in as text, so that nothing a model or a
// tool wrote can become an element.
import { fill, type PanelString, type PanelStrings } from "../model/strings.ts";
import type { FromPanel } from "../panel/messages.ts";

type Attributes = Record<string, string | boolean | undefined>;
type Child = Node | string | undefined;

/** An element with attributes and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) {
      element.setAttribute(name, "");
    } else if (typeof value === "string") {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** A button that does something. */
export function button(
  label: string,
  act: () => void,
  attributes: Attributes = {},
  icon?: Node,
): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, icon, label);
  element.addEventListener("click", act);
  return element;
}

const strings: PanelStrings = JSON.parse(document.getElementById("strings")?.textContent ?? "{}");

/** A sentence in the display language. */
export function t(key: PanelString, ...args: (string | number)[]): string {
  return fill(strings[key] ?? key, ...args);
}

const host = acquireVsCodeApi();

/** Tells the extension something. */
export function post(message: FromPanel): void {
  host.postMessage(message);
}

/** What the webview keeps while it is hidden. */
export const draft = {
  get: (): string => host.getState()?.draft ?? "",
  set: (text: string): void => host.setState({ draft: text }),
};
