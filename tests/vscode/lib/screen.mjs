// Sees and does in the workbench what a person sees and does: texts, clicks, keys, in the workbench
// itself and in the webviews. Must never reach past the screen into the extension.
import { until } from "./workbench.mjs";

/** Frames whose content is on the screen. */
async function visibleFrames(page) {
  const frames = [];
  for (const frame of page.frames()) {
    if (await onScreen(frame)) {
      frames.push(frame);
    }
  }
  return frames;
}

async function onScreen(frame) {
  for (let f = frame; f.parentFrame() !== null; f = f.parentFrame()) {
    try {
      if (!(await (await f.frameElement()).isVisible())) {
        return false;
      }
    } catch {
      // The frame went away while it was looked at.
      return false;
    }
  }
  return true;
}

/** Runs in the page: all text that is drawn, and what stands in fields. */
function drawnText() {
  const fields = [...document.querySelectorAll("input, textarea, select")]
    .filter((field) => field.offsetParent !== null)
    .map((field) => (field.tagName === "SELECT" ? field.selectedOptions[0]?.text : field.value));
  return [document.body?.innerText ?? "", ...fields].join("\n").replace(/\u00a0/g, " ");
}

/** Runs in the page: the innermost visible element with this text or label, marked for a click. */
function markElement(text) {
  const clean = (value) => (value ?? "").replace(/\u00a0/g, " ").replace(/\s+/g, " ").trim();
  const visible = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  };
  const all = [...document.querySelectorAll("body *")].filter(visible);
  const label = (element) => [element.getAttribute("aria-label"), element.getAttribute("title"), element.getAttribute("placeholder")];
  const size = (element) => element.textContent.length * 1000 + element.querySelectorAll("*").length;
  const exact = all.filter((e) => clean(e.innerText) === text || label(e).some((l) => clean(l) === text));
  const within = all.filter((e) => clean(e.innerText).includes(text) || label(e).some((l) => clean(l).includes(text)));
  const [best] = (exact.length > 0 ? exact : within).sort((a, b) => size(a) - size(b));
  for (const old of document.querySelectorAll("[data-walk-click]")) {
    old.removeAttribute("data-walk-click");
  }
  best?.setAttribute("data-walk-click", "");
  return { found: best !== undefined, exact: exact.length > 0 };
}

/** Runs in the page: keys go to a text editor. */
function editorHasFocus() {
  return document.activeElement?.closest(".part.editor .monaco-editor") != null;
}

/** What a person does with the workbench's screen. */
export class Screen {
  constructor(bench) {
    this.bench = bench;
    this.page = bench.page;
  }

  /** All text on the screen. */
  async text() {
    const texts = [];
    for (const frame of await visibleFrames(this.page)) {
      texts.push(await frame.evaluate(drawnText).catch(() => ""));
    }
    return texts.join("\n");
  }

  /** Waits until the text is on the screen. */
  async see(text, deadline) {
    await until(`"${text}" on the screen`, async () => ((await this.text()).includes(text) ? true : undefined), deadline);
  }

  /** Waits until the text is gone from the screen. */
  async gone(text) {
    await until(`"${text}" to go`, async () => ((await this.text()).includes(text) ? undefined : true));
  }

  /** Clicks the visible element with this text or label; waits until there is one that is enabled. */
  async click(text) {
    await until(`an element "${text}" to click`, async () => {
      const target = await this.find(text);
      if (target === undefined) {
        return undefined;
      }
      try {
        await target.click({ timeout: 2_000 });
        return true;
      } catch {
        // Not enabled yet, covered, or drawn anew: look again.
        return undefined;
      }
    });
  }

  async find(text) {
    let second;
    for (const frame of await visibleFrames(this.page)) {
      const marked = await frame.evaluate(markElement, text).catch(() => ({ found: false }));
      if (marked.found && marked.exact) {
        return frame.locator("[data-walk-click]");
      }
      second ??= marked.found ? frame.locator("[data-walk-click]") : undefined;
    }
    return second;
  }

  /** Types literally. */
  async type(text) {
    await this.page.keyboard.insertText("");
    await this.page.keyboard.type(text);
  }

  /** Presses chords, one after the other. */
  async keys(chords) {
    for (const chord of chords.trim().split(/\s+/)) {
      await this.page.keyboard.press(chord);
    }
  }

  /** Opens a file of the workspace by the quick-open box. */
  async open(path) {
    await this.pick("Control+P", path, path.split("/").at(-1));
    let shown = "nothing";
    try {
      await until("it", async () => {
        const document = await this.bench.document();
        shown = document === null ? "nothing" : decodeURIComponent(document.uri);
        return shown.endsWith(`/${path}`) && (await this.page.evaluate(editorHasFocus)) ? true : undefined;
      });
    } catch {
      throw new Error(`${path} did not get the focus in an editor; the active one shows ${shown}`);
    }
  }

  /** Runs a command by its title in the palette. */
  async command(title) {
    await this.pick("F1", `>${title}`, title);
  }

  /** Opens a box by a chord, types into it and takes the row that shows the text. Enter takes the row
   * that is marked: until the box has narrowed its list that may be another one. */
  async pick(chord, typed, row) {
    const box = this.page.locator(".quick-input-widget");
    await until(`"${row}" in the box`, async () => {
      try {
        await this.page.keyboard.press(chord);
        await box.locator("input").first().fill(typed, { timeout: 3_000 });
        await box.locator(".monaco-list-row.focused", { hasText: row }).waitFor({ timeout: 5_000 });
        await this.page.keyboard.press("Enter");
        await box.waitFor({ state: "hidden", timeout: 5_000 });
        return true;
      } catch {
        // The box closes when something else takes the focus meanwhile: open it anew.
        await this.page.keyboard.press("Escape");
        return undefined;
      }
    });
  }

  /** Writes a picture of the screen, once two pictures in a row are the same: nothing moves in. */
  async shot(file) {
    let before = await this.page.screenshot();
    // A spinner never stands still: after some pictures the last one counts.
    for (let i = 0; i < 8; i++) {
      const now = await this.page.screenshot({ path: file });
      if (now.equals(before)) {
        return;
      }
      before = now;
    }
  }
}
