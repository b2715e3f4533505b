// What a person judges is written out. Must never accept that a character is left out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Reveal, scriptsOf } from "../../src/model/reveal.ts";

const latin = new Reveal(scriptsOf("en"));

function check(text: string, shown: string, reveal = latin): void {
  assert.equal(reveal.flat(text), shown);
}

test("plain text stays as it is", () => {
  check("git status --short", "git status --short");
  check("über café", "über café");
  check("a\n\nb", "a\n\nb");
  check("    indented\n\ttab", "    indented\n\ttab");
});

test("what cannot be seen is written out", () => {
  check("rm\u202e -rf", "rm⟨U+202E⟩ -rf");
  check("a\u200bb", "a⟨U+200B⟩b");
  check("\u001b[31mred", "⟨U+001B⟩[31mred");
  check("a\u00a0b", "a⟨U+00A0⟩b");
  check("😀", "⟨U+1F600⟩");
  check("a\rb", "a⟨U+000D⟩b");
});

test("letters of other scripts are written out, those of the reader's are not", () => {
  check("раypal", "⟨U+0440⟩⟨U+0430⟩ypal");
  const russian = new Reveal(scriptsOf("ru"));
  check("привет", "привет", russian);
  assert.deepEqual(
    russian.pieces("раypal").map(({ kind }) => kind),
    ["mixed"],
  );
  check("日本語かな", "日本語かな", new Reveal(scriptsOf("ja")));
});

test("runs of blanks and empty lines are counted", () => {
  check(`ls${" ".repeat(200)}; rm -rf /`, "ls⟨200 blanks⟩; rm -rf /");
  check(`ls${"\n".repeat(50)}rm`, "ls\n⟨49 empty lines⟩\nrm");
  check(`ls\n${" ".repeat(60)}rm`, "ls\n⟨60 blanks⟩rm");
});

test("nothing is lost: 100 kB in, every visible character out", () => {
  const text = Array.from({ length: 2_000 }, (_, i) => `echo line ${i} "quoted $HOME"`).join("\n");
  check(text, text);
});

test("an unknown language reads Latin alone", () => {
  assert.deepEqual(scriptsOf("not a language"), ["Latn"]);
  assert.deepEqual(scriptsOf("zh-cn"), ["Latn", "Hani"]);
});
