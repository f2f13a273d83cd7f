/** Kinds of level and keys of the grammar, as the server declares them, and how levels look. Levels of one letter are
 *  told apart by a number after it and by lightness. The top level of a stack is always the target, T. */

import { translated } from "../../../text/heard.js";

/** A kind of level, as hsd_core/grammar/kind.py declares it.
 *  @typedef {{name: string, order: number, title: string, about: string, letter: string, underline: string, stand_in: string, keys: string[],
 *    usual: Record<string, string>, verifies: boolean, stands: string, cheap: boolean, colour: {light: string, dark: string},
 *    reads: {weights: string, depth: number|string|null, part: boolean}|null, block: number,
 *    said: {forms: string[], around: Record<string, string>, terms: Record<string, string>},
 *    origins: {letter: string, title: string, share: number, towards: string}[],
 *    written: {name: string, key: string, value: string, wrong: string, without: Record<string, string>}|null}} Kind */
/** A key of levels, as hsd_core/grammar/keys.py declares it.
 *  @typedef {{type: string, name: string, title: string, cure: string, counts: string, fans: boolean, usual: string|null, usuals: Record<string, string>, tip: string,
 *    label: string, tips: Record<string, string>, when: [string, string[]]|null, of: string[], instead: string, low: number, high: number, step: number, beside?: number,
 *    choices: string[], inner?: string[], alphabet: string, most: number, nodes: number, words: Record<string, string>,
 *    terms: Record<string, string>, noted: string, around: string}} Key */

/** What `learn` was given: kinds and keys by name, the shades of a hue, and what joins levels in a stack's name.
 *  @type {{kinds: Map<string, Kind>, keys: Map<string, Key>, block: Key, most_levels: number, shades: [number, string][],
 *    joints: Record<string, string>, sheet?: CSSStyleSheet}} */
export const grammar = {
  kinds: new Map(),
  keys: new Map(),
  block: /** @type {any} */ (null),
  most_levels: 0,
  shades: [],
  joints: {},
};

/** @type {() => void} */ let known = () => {};
/** @type {Promise<void>} resolves when `learn` was called: the first screen is told the grammar, the other tabs wait for it */
export const learned = new Promise((resolve) => (known = resolve));

/** Takes in what the server declares; called before anything is drawn.
 *  @param {{kinds: Kind[], keys: Key[], reject: {light: string, dark: string}}} given */
export function learn(given) {
  /** @template {{name: string}} T @param {T[]} list @returns {Map<string, T>} */
  const named = (list) => new Map(list.map((one) => [one.name, one]));
  const said = translated(given);
  Object.assign(grammar, said, { kinds: named(said.kinds), keys: named(said.keys) });
  if (globalThis.document) paint(given);
  known();
}

/** The hues as CSS variables, `--hue-` and the kind's name, for the light and the dark page.
 *  @param {{kinds: Kind[], reject: {light: string, dark: string}}} given */
function paint({ kinds, reject }) {
  const named = [...kinds.map(({ name, colour }) => ({ name, colour })), { name: "reject", colour: reject }];
  const hues = (/** @type {"light"|"dark"} */ theme) =>
    named.map(({ name, colour }) => `--hue-${name}: ${colour[theme]};`).join(" ");
  if (!grammar.sheet) document.adoptedStyleSheets.push((grammar.sheet = new CSSStyleSheet()));
  grammar.sheet.replaceSync(`:root { ${hues("light")} } body.dark { ${hues("dark")} }`);
}

/** The kind that declares to stand for levels of which no more is known: for the target, a lookup, or any other level;
 *  the last one in order where none does. @param {"target"|"lookup"|"level"} which @returns {Kind} */
export function standIn(which) {
  const all = [...grammar.kinds.values()];
  return all.find((kind) => kind.stand_in === which) ?? /** @type {Kind} */ (all.at(-1));
}

/** The kind that a level of a run is drawn as; one that is not known has a stand-in. @param {string} [name]
 *  @returns {Kind} */
export const kindOf = (name) => grammar.kinds.get(name ?? "") ?? standIn("level");

/** The kinds of a run's levels that are not known here: their system is not installed. @param {{levels: readonly {kind?: string}[]}} header */
export const unknownKinds = ({ levels }) => [
  ...new Set(levels.map(({ kind }) => kind ?? "").filter((kind) => kind && !grammar.kinds.has(kind))),
];

/** What a level with these options has for a key without saying so; null where that is not known here.
 *  @param {string} name @param {string} key @param {Record<string, string>} [options] */
export function usualOf(name, key, options = {}) {
  const { usual, usuals, when } = grammar.keys.get(key) ?? {};
  return grammar.kinds.get(name)?.usual?.[key] ?? usuals?.[options[when?.[0] ?? ""]] ?? usual ?? null;
}

/** Whether levels of a kind heed a key. @param {string} name @param {string} key */
export const heeds = (name, key) => Boolean(grammar.kinds.get(name)?.keys.includes(key));

/** The depths that a level's key says: several, one, or none. @param {string} [text] @returns {number[]} */
export const depthsOf = (text) => (text ? String(text).split("-").map(Number) : []);

/** Where a token came from within its level, by the letter that the trace gives: {title, hue}, or null. A draft may have
 *  lookups beside it, whose kind knows theirs. @param {string} kindName @param {string} letter */
export function originOf(kindName, letter) {
  for (const kind of [kindOf(kindName), ...grammar.kinds.values()]) {
    const origin = kind.origins.find((one) => one.letter === letter);
    if (origin) return { title: origin.title, hue: mixed(kind, origin.share, origin.towards) };
  }
  return null;
}

export const REJECT = Object.freeze({ hue: "var(--hue-reject)" });

/** @param {Kind} kind @param {number} share @param {string} towards */
function mixed(kind, share, towards) {
  const hue = `var(--hue-${kind.name})`;
  return share === 1 ? hue : `color-mix(in oklab, ${hue} ${Math.round(100 * share)}%, var(--${towards}))`;
}

/** @typedef {{index: number, tag: string, letter: string, name: string, kind: string, hue: string, underline: string}} Look
 */

/** What a stack's levels look like.
 *  @param {{kind: string, label?: string}[]} infos cheapest first; label: what a level is called
 *  @returns {Look[]} per level */
export function styleLevels(infos) {
  const top = infos.length - 1;
  const kinds = infos.map((info, i) => (i === top ? standIn("target") : kindOf(info.kind)));
  const names = numbered(infos.map((info, i) => info.label || kinds[i].title));
  return infos.map((info, i) => {
    const kind = kinds[i];
    const { letter, underline } = kind;
    const nth = kinds.slice(0, i).filter((other) => other.letter === letter).length;
    const alone = kinds.filter((other) => other.letter === letter).length === 1;
    return {
      index: i,
      tag: alone ? letter : `${letter}${nth + 1}`,
      letter,
      name: names[i],
      kind: info.kind,
      hue: mixed(kind, ...grammar.shades[nth % grammar.shades.length]),
      underline,
    };
  });
}

/** Names, of which several that are one have their numbers. @param {string[]} names */
export const numbered = (names) =>
  names.map((name, i) => {
    const nth = names.slice(0, i + 1).filter((other) => other === name).length;
    return names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} ${nth}`;
  });
