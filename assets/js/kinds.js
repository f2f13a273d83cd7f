/** Kinds of level and keys of the grammar, as the server declares them, and how levels look. Levels of one letter are
 *  told apart by a number after it and by lightness. The top level of a stack is always the target, T. */

/** What `learn` was given: kinds and keys by name, what a stack is refused with, and the shades of a hue. */
export const grammar = { kinds: new Map(), keys: new Map(), block: null, most_levels: 0, says: {}, shades: [] };

/** Takes in what the server declares; called before anything is drawn. */
export function learn(given) {
  const named = (list) => new Map(list.map((one) => [one.name, one]));
  Object.assign(grammar, given, { kinds: named(given.kinds), keys: named(given.keys) });
  if (globalThis.document) paint(given);
}

/** The hues as CSS variables, `--hue-` and the kind's name, for the light and the dark page. */
function paint({ kinds, reject }) {
  const hues = (theme) => kinds.map((kind) => `--hue-${kind.name}: ${kind.colour[theme]};`).join(" ") + ` --hue-reject: ${reject[theme]};`;
  if (!grammar.sheet) document.adoptedStyleSheets = [...document.adoptedStyleSheets, (grammar.sheet = new CSSStyleSheet())];
  grammar.sheet.replaceSync(`:root { ${hues("light")} } body.dark { ${hues("dark")} }`);
}

/** The kind that a level of a run is drawn as; one that is not known is a model. */
export const kindOf = (name) => grammar.kinds.get(name) ?? grammar.kinds.get("model");

/** Whether levels of a kind heed a key. */
export const heeds = (name, key) => Boolean(grammar.kinds.get(name)?.keys.includes(key));

/** Where a token came from within its level, by the letter that the trace gives: {title, hue}, or null. */
export function originOf(kindName, letter) {
  const kind = kindOf(kindName);
  const origin = kind.origins.find((one) => one.letter === letter);
  return origin ? { title: origin.title, hue: mixed(kind, origin.share, origin.towards) } : null;
}

export const REJECT = Object.freeze({ hue: "var(--hue-reject)" });

function mixed(kind, share, towards) {
  const hue = `var(--hue-${kind.name})`;
  return share === 1 ? hue : `color-mix(in oklab, ${hue} ${Math.round(100 * share)}%, var(--${towards}))`;
}

/**
 * @typedef {{index: number, tag: string, letter: string, name: string, short: string, kind: string, hue: string,
 *   underline: string}} Look
 */

/**
 * What a stack's levels look like.
 * @param {{kind: string, name?: string, label?: string}[]} infos the header's levels, cheapest first
 * @returns {Look[]} per level
 */
export function styleLevels(infos) {
  const top = infos.length - 1;
  const kinds = infos.map((info, i) => kindOf(i === top ? "target" : info.kind));
  return infos.map((info, i) => {
    const kind = kinds[i];
    const nth = kinds.slice(0, i).filter((other) => other.letter === kind.letter).length;
    const alone = kinds.filter((other) => other.letter === kind.letter).length === 1;
    const hue = mixed(kind, ...grammar.shades[nth % grammar.shades.length]);
    const name = info.label || (i === top ? "target" : info.name || kind.title);
    const short = kind.labelled.includes("lanes") && info.label ? info.label : kind.title;
    return { index: i, tag: alone ? kind.letter : `${kind.letter}${nth + 1}`, letter: kind.letter, name, short, kind: info.kind, hue, underline: kind.underline };
  });
}
