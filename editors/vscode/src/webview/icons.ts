// The icon of each kind of call, drawn as lines. Must never be the only sign of anything: the words
// stand beside it.
import type { CallKind } from "../protocol.ts";

const PATHS: Record<CallKind, string> = {
  read: "M2 3.5c2-1 4-1 6 .5 2-1.5 4-1.5 6-.5v9c-2-1-4-1-6 .5-2-1.5-4-1.5-6-.5zM8 4v9",
  edit: "M3 13l.7-3L11 2.7a1 1 0 0 1 1.4 0l.9.9a1 1 0 0 1 0 1.4L6 12.3zM10 4l2 2",
  delete: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.7 9h5.6l.7-9M7 7v4M9 7v4",
  search: "M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 10l4 4",
  execute: "M2 3h12v10H2zM4.5 6l2 2-2 2M8 10.5h3.5",
  think: "M8 2a4 4 0 0 0-2 7.5V11h4V9.5A4 4 0 0 0 8 2zM6.5 13.5h3",
  fetch:
    "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM2 8h12M8 2c2.5 3.5 2.5 8.500 0 12M8 2c-2.500 3.500-2.500 8.500 0 12",
  other: "M8 2.500l5 3v5l-5 3-5-3v-5zM8 8.500v5M3 5.500l5 3 5-3",
};

/** The icon of a kind of call; a kind that is not known gets the general one. */
export function icon(kind: CallKind): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[kind] ?? PATHS.other);
  svg.append(path);
  return svg;
}
