// Claims about where the page's English stands: in assets/js/words alone, and in words.js of a system. Run: node --test tests/js

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { HOLE, literals } from "./literals.mjs";

const SCRIPTS = new URL("../../assets/js/", import.meta.url);
const ALL = readdirSync(SCRIPTS, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".js"))
  .sort();
const isWords = (/** @type {string} */ name) => /^words\/|^systems\/\w+\/words\.js$/.test(name);
const read = (/** @type {string} */ name) => readFileSync(new URL(name, SCRIPTS), "utf8");

// Two words, or a word and what is filled in beside it.
const PROSE = new RegExp(
  `\\p{L}{2}[\\u2019',.:;!?)\\]]* +[([\\u201c"\\u2018']?(?:\\p{L}{2}|${HOLE})|${HOLE}[,:;]? +\\p{L}{2}`,
  "u",
);
// What stands behind one of these is shown or read out, be it a single word.
const SHOWN =
  /(?:\b(?:text|title|label|placeholder|tip)|"(?:aria-label|aria-valuetext|data-tip)"|textContent)\s*(?:[:=]|\?\?=)\s*$/;
const CLASSES = new RegExp(`^ ?(?:(?:hx-[\\w-]*${HOLE}?[\\w-]*|${HOLE}) ?)+$`);

const UNITS = new RegExp(`^${HOLE} (?:ms|s|MB)$`);

// Of no language, by script: what is compared, looked up or handed to the browser.
const OF_NO_LANGUAGE = {
  // keys of what is kept, and file names
  "caption/caption.js": ["end \u2026", "prefill \u2026"],
  "systems/ngram/entries.js": ["out \u2026 \u2026"],
  "results/results-origin.js": ["results.\u2026"],
  // thrown, and told in other words by whoever catches it
  "learn/library.js": ["status \u2026"],
  "results/results.js": ["status \u2026"],
  // a command
  "planner/first-profile.js": ["python -m hsd_core calibrate"],
  // a place, as plotly names it
  "systems/exits/what-it-takes.js": ["top center", "top right"],
  // selectors
  "systems/ngram/pointer-line.js": ['.hx-flow [data-serial="\u2026"]'],
  "stage/desk.js": ['input, textarea, select, [contenteditable], [role="slider"], [role="tab"], .hx-pop-panel'],
  "learn/acts/page-parts.js": [".hx-text-panel"],
  "stage/title/presenter.js": [
    "input:not(.hx-transport-slider), textarea, select, [contenteditable=''], [contenteditable='true']",
    ".hx-lesson, .hx-room, .hx-pop-panel, dialog, [role=dialog], [role=listbox], [role=menu], [role=radiogroup]",
  ],
  "stage/title/skip.js": [
    "a[href], button, input, select, textarea, summary, [tabindex='0']",
    ".hx-flow [tabindex='0']",
    ".hx-tower select",
  ],
  "kit/tabs.js": ['#tabs [role="tab"]'],
  "text/text-keys.js": [".hx-ghosts, .hx-tree, [data-soft], [data-special]"],
  // styles, media and markup
  "levels/kinds.js": ["color-mix(in oklab, \u2026 \u2026%, var(--\u2026))"],
  "learn/lesson-panel.js": ["(prefers-reduced-motion: reduce)"],
  "learn/pictures/coin-picture.js": ["(prefers-reduced-motion: reduce)", "no sampled rejection"],
  "text/token/legend.js": ["color-mix(in oklab, \u2026 35%, var(--mark))"],
  "offline/main.js": ["(prefers-color-scheme: dark)"],
  "site/site-page.js": ["(prefers-color-scheme: dark)"],
  "kit/picture/paint.js": [
    "button, select, input, textarea, details:not([open]) > :not(summary), summary, .hx-sr, .hx-pop, .hx-tip, .hx-lane-tip, .hx-grip, .hx-depth-ticks, [data-no-picture], script, style",
    "to right",
  ],
  "kit/picture/save.js": ['<?xml version="1.0" encoding="UTF-8"?>\\n\u2026'],
  "player/player.js": ["(prefers-reduced-motion: reduce)"],
  "race/compare-says.js": ["linear-gradient(to right, \u2026)", "transparent, transparent"],
  "race/replay/strip.js": ["linear-gradient(to right, \u2026)"],
  "story/motion.js": ["(prefers-reduced-motion: reduce)", "translate(\u2026px, \u2026px) scale(\u2026)"],
  "share/save-page.js": ['<script type="text/plain" id="hx-run"></script>'],
  "plots/study.js": ["(prefers-reduced-motion: reduce)"],
};

const plainText = (/** @type {string} */ text) =>
  text
    .replace(/\\u\{([0-9a-f]+)\}|\\u([0-9a-f]{4})/gi, (_, a, b) => String.fromCodePoint(parseInt(a ?? b, 16)))
    .replaceAll(HOLE, "\u2026");

/** The texts of a script that a translator would have to know of. @param {string} source */
function english(source) {
  return literals(source)
    .filter(({ text, start }) => {
      if (CLASSES.test(text) || UNITS.test(text)) return false;
      const before = source.slice(Math.max(0, start - 60), start);
      if (/\bclass(?:Name)?"?\s*[:=]\s*$/.test(before)) return false;
      return PROSE.test(text) || (SHOWN.test(before) && /\p{L}{3}/u.test(text));
    })
    .map(({ text, line }) => ({ text: plainText(text), line }));
}

test("strings, templates and what is filled into them are found, comments and patterns are not", () => {
  const source = [
    "// a comment of words",
    'const a = "two words", b = 4 / 2; /* and "more words" */',
    'const c = /["a b]/.test(`${a ? `${b} inner words` : ""} outer words`);',
  ].join("\n");
  const found = literals(source).map(({ text, line }) => [text, line]);
  assert.deepEqual(found, [
    ["two words", 2],
    [`${HOLE} outer words`, 3],
    [`${HOLE} inner words`, 3],
    ["", 3],
  ]);
});

test("a sentence, a word beside a figure and a label of one word are English; classes and keys are not", () => {
  const found = (/** @type {string} */ code) => english(code).map((one) => one.text);
  assert.deepEqual(found('f("It rests.", `${n} rows`, `round ${n}`)'), ["It rests.", "\u2026 rows", "round \u2026"]);
  assert.deepEqual(found('h("b", { text: "Close", "aria-label": `close` })'), ["Close", "close"]);
  assert.deepEqual(found('h("b", { class: `hx-a hx-${b}` }, `${a} ${b}`, "hx-c hx-d", `${x}ms`)'), []);
});

test("the scripts say nothing of their own: their English stands in words/", () => {
  const excepted = new Set(
    Object.entries(OF_NO_LANGUAGE).flatMap(([name, texts]) => texts.map((t) => `${name}: ${t}`)),
  );
  const met = new Set();
  const left = ALL.filter((name) => !isWords(name)).flatMap((name) =>
    english(read(name)).flatMap(({ text, line }) => {
      const key = `${name}: ${text}`;
      met.add(key);
      return excepted.has(key) ? [] : [`${name}:${line}: ${JSON.stringify(text)}`];
    }),
  );
  assert.deepEqual(left, [], "English outside words/; move it there");
  assert.deepEqual(
    [...excepted].filter((key) => !met.has(key)),
    [],
    "exceptions that nothing needs any more",
  );
});

test("no text has a line that looks like a comment: the bundler leaves those out", () => {
  const looks = (/** @type {string} */ name) =>
    literals(read(name)).filter(({ text }) => /\n[ \t]*(?:\/\/|\/\*)/.test(text));
  for (const name of ALL) assert.deepEqual(looks(name), [], name);
});

test("the style sheets say nothing either", () => {
  const styles = new URL("../css/", SCRIPTS);
  for (const name of readdirSync(styles)) {
    const source = readFileSync(new URL(name, styles), "utf8").replace(/attr\([^)]*\)/g, "");
    const said = [...source.matchAll(/(?<![\w-])content:[^;}]*["'][^"'};]*\p{L}{3}[^;}]*/gu)].map((found) => found[0]);
    assert.deepEqual(said, [], name);
  }
});

test("words need no page: they import one another alone", () => {
  for (const name of ALL.filter(isWords)) {
    const source = read(name);
    const imports = [...source.matchAll(/^import .* from "(.*)";$/gm)].map((found) => found[1]);
    assert.deepEqual(
      imports.filter((path) => !new URL(path, new URL(name, SCRIPTS)).href.startsWith(`${SCRIPTS}words/`)),
      [],
      name,
    );
    assert.doesNotMatch(source, /\b(?:document|window|globalThis)\s*[.[]/, name);
  }
});
