// Draws renderer payloads. Must never interpret escape sequences or markup in them, and never drop
// one: a kind that is not known is shown as JSON.
import type { PanelString } from "../model/strings.ts";
import type { Hunk, Payload } from "../protocol.ts";
import { el, post, t } from "./dom.ts";
import { Prose } from "./prose.ts";

/** Lines and rows drawn at once of one payload; the whole is a page away or in the file. */
const MOST_ROWS = 500;

const HUNK_STATES = {
  proposed: "hunkProposed",
  accepted: "hunkTaken",
  rejected: "hunkLeft",
  conflict: "hunkClash",
  applied: "hunkApplied",
  kept: "hunkKept",
  reverted: "hunkReverted",
} as const satisfies Record<Hunk["state"], PanelString>;

/** The element that shows a payload. */
export function payload(value: Payload): HTMLElement {
  switch (value.kind) {
    case "text":
    case "fallback":
      return el("pre", { tabindex: "0" }, value.text);
    case "markdown": {
      const prose = new Prose();
      prose.show(value.text);
      return prose.element;
    }
    case "diff":
      return el(
        "div",
        { class: "diff" },
        fileLink(value.path),
        ...value.hunks.flatMap((hunk) => [
          el(
            "p",
            { class: "quiet" },
            t("hunkLine", hunk.oldStart + 1, t(HUNK_STATES[hunk.state] ?? "hunkProposed")),
          ),
          hunkLines(hunk),
        ]),
      );
    case "terminal":
      return terminal(value);
    case "file_list":
      return rows(value.files, value.total, (file) => fileLink(file));
    case "matches":
      return rows(value.matches, value.total, (match) =>
        el("span", {}, fileLink(match.path, match.line - 1), " ", el("code", {}, match.text)),
      );
    case "plan":
      return plan(value.entries);
    case "image":
      return image(value.media_type, value.data ?? undefined);
    case "json":
      return el("pre", { tabindex: "0" }, JSON.stringify(value.value, null, 2));
    default:
      return el("pre", { tabindex: "0" }, JSON.stringify(value, null, 2));
  }
}

/** The lines of a hunk, each with its sign. */
export function hunkLines(hunk: Hunk): HTMLElement {
  const lines = [
    ...hunk.oldLines.map((text) => ({ sign: "−", text, kind: "gone" })),
    ...hunk.newLines.map((text) => ({ sign: "+", text, kind: "come" })),
  ];
  return el(
    "pre",
    { class: "hunk", tabindex: "0" },
    ...lines.map(({ sign, text, kind }) =>
      el("span", { class: kind }, el("span", { class: "sign" }, `${sign} `), `${text}\n`),
    ),
  );
}

/** A button that opens a file. */
export function fileLink(path: string, line?: number): HTMLElement {
  const name = line === undefined ? path : `${path}:${line + 1}`;
  const link = el("button", { type: "button", class: "link", title: t("openFile", name) }, name);
  link.addEventListener("click", () => post({ type: "open", path, line }));
  return link;
}

/** The model's plan. */
export function plan(entries: Extract<Payload, { kind: "plan" }>["entries"]): HTMLElement {
  return el(
    "ul",
    { class: "plan" },
    ...entries.map((entry) => {
      const [mark, said, text] =
        entry.status === "completed"
          ? ["☑", t("planDone"), entry.content]
          : entry.status === "in_progress"
            ? ["◧", t("planDoing"), entry.activeForm]
            : ["☐", t("planOpen"), entry.content];
      const sign = el("span", { "aria-hidden": "true" }, `${mark} `);
      return el("li", { class: entry.status }, sign, text, el("span", { class: "quiet" }, ` (${said})`));
    }),
  );
}

function terminal(value: Extract<Payload, { kind: "terminal" }>): HTMLElement {
  const exit = value.exitCode == null ? undefined : el("p", { class: "quiet" }, t("exit", value.exitCode));
  return el(
    "div",
    { class: "terminal" },
    el("pre", { class: "command", tabindex: "0" }, value.command),
    el("pre", { class: "output", tabindex: "0" }, withoutEscapes(value.output)),
    exit,
  );
}

/** Colours are not drawn: their escape sequences would be noise. */
function withoutEscapes(text: string): string {
  const start = String.fromCharCode(27);
  return text.replace(new RegExp(`${start}\\[[0-9;:]*m`, "g"), "");
}

function rows<T>(values: T[], total: number, draw: (value: T) => HTMLElement): HTMLElement {
  const shown = values.slice(0, MOST_ROWS).map((value) => el("li", {}, draw(value)));
  const rest = Math.max(total, values.length) - shown.length;
  return el(
    "ul",
    { class: "rows" },
    ...shown,
    rest > 0 ? el("li", { class: "quiet" }, t("more", rest)) : undefined,
  );
}

function image(mediaType: string, data: string | undefined): HTMLElement {
  // Only raster kinds: an SVG could hold script.
  if (data === undefined || !/^image\/(png|jpeg|gif|webp)$/.test(mediaType)) {
    return el("p", { class: "quiet" }, mediaType);
  }
  return el("img", { src: `data:${mediaType};base64,${data}`, alt: mediaType });
}
