/** A lesson's text as nodes: `[Q]` is a level's letter in its colour, `[x]` a rejected token, `...` a formula, *...* stressed,
 *  and references are figures, filled in by `fill`. Nothing is parsed as HTML. */

import { explained } from "../../../shared/glossary/term.js";
import { h, say } from "../../../shared/kit/dom.js";
import { grammar } from "../../../shared/levels/kinds.js";
import { figure, holds, REFERENCE } from "./refs.js";
import { WORDS } from "../../../../text/en/learn.js";

const MARKS = new RegExp(`${REFERENCE.source}|\\[([A-Z]\\d?|x)\\]|\`([^\`]+)\`|\\*([^*]+)\\*`, "g");

/** @param {string} text @param {Set<string>|null} [seen] words of the glossary that were explained; null: none is
 *  @returns {(Node|string)[]} */
export function rich(text, seen = null) {
  /** @type {(Node|string)[]} */ const found = [];
  const plain = (/** @type {string} */ part) => found.push(...(seen && part ? explained(part, seen) : [part]));
  let at = 0;
  for (const match of text.matchAll(MARKS)) {
    const [all, name, source, of, letter, formula, stressed] = match;
    plain(text.slice(at, match.index));
    at = match.index + all.length;
    if (letter) found.push(badge(letter));
    else if (formula) found.push(h("code", rich(formula)));
    else if (stressed) found.push(h("em", stressed));
    else found.push(h("b.hx-ref", { "data-name": name ?? of, "data-source": source ?? "", text: "\u2013" }));
  }
  plain(text.slice(at));
  return found.filter((part) => part !== "");
}

/** A text, and the sentences behind it that are said where their condition holds; `fill` shows those. */
export function told(/** @type {{text: string, also?: import("./run-figures.js").Also[]}} */ { text, also = [] }) {
  const sentence = (/** @type {import("./run-figures.js").Also} */ one) =>
    h("span.hx-also", { "data-when": one.when, hidden: true }, [" ", rich(one.text)]);
  return [...rich(text), ...also.map(sentence)];
}

/** Puts the figures in that are at hand. @param {HTMLElement} root @param {import("./run-figures.js").Sources} sources */
export function fill(root, sources) {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".hx-also")))
    one.hidden = holds(one.dataset.when ?? "", sources) !== true;
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".hx-ref"))) {
    const found = figure(sources, one.dataset.name ?? "", one.dataset.source);
    say(one, found?.text ?? "\u2013");
    one.dataset.tip = found?.tip ?? WORDS.absent;
  }
}

function badge(/** @type {string} */ letter) {
  if (letter === "x") return h("span.hx-legend-swatch.hx-lesson-mark", { "data-line": "struck", text: "x" });
  const kind = [...grammar.kinds.values()].find((one) => one.letter === letter[0] && !one.written);
  return h("span.hx-legend-swatch.hx-lesson-mark", {
    "data-line": kind?.underline ?? "solid",
    style: { "--hue": `var(--hue-${kind?.name ?? "target"})` },
    text: letter,
  });
}
