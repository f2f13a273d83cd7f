/** Kinds of level: letter, name, hue and underline. One table for every view. Levels of one kind are told
 *  apart by a number after the letter and by lightness. The top level of a stack is always the target, T. */

export const KINDS = Object.freeze({
  ngram: { letter: "N", name: "n-gram", hueVar: "--hue-ngram", underline: "dotted" },
  nano: { letter: "D", name: "nano draft", hueVar: "--hue-draft", underline: "dashed" },
  draft: { letter: "D", name: "draft model", hueVar: "--hue-draft", underline: "dashed" },
  exit: { letter: "E", name: "early exit", hueVar: "--hue-exit", underline: "wavy" },
  int8: { letter: "Q", name: "int8 copy", hueVar: "--hue-int8", underline: "double" },
  int4: { letter: "Q", name: "int4 copy", hueVar: "--hue-int8", underline: "double" },
  model: { letter: "M", name: "model", hueVar: "--hue-model", underline: "thick" },
  table: { letter: "M", name: "table", hueVar: "--hue-model", underline: "thick" },
  target: { letter: "T", name: "target", hueVar: "--hue-target", underline: "solid" },
});

/** The n-gram databases, by the letter that the trace gives as a token's source. */
export const DATABASES = Object.freeze({
  c: { name: "context: prompt and output", mix: "var(--hue-ngram)" },
  m: { name: "model: what the target wrote before", mix: "color-mix(in oklab, var(--hue-ngram) 55%, var(--paper))" },
  s: { name: "statistics: general text", mix: "color-mix(in oklab, var(--hue-ngram) 62%, var(--ink))" },
});

export const REJECT = Object.freeze({ hue: "var(--hue-reject)" });

const SHADES = [
  (hue) => hue,
  (hue) => `color-mix(in oklab, ${hue} 62%, var(--ink))`,
  (hue) => `color-mix(in oklab, ${hue} 60%, var(--paper))`,
  (hue) => `color-mix(in oklab, ${hue} 42%, var(--ink))`,
];

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
  const kindOf = (info, i) => KINDS[i === top ? "target" : info.kind] ?? KINDS.model;
  const total = new Map();
  const seen = new Map();
  infos.forEach((info, i) => bump(total, kindOf(info, i).letter));
  return infos.map((info, i) => {
    const kind = kindOf(info, i);
    const nth = bump(seen, kind.letter);
    const hue = SHADES[(nth - 1) % SHADES.length](`var(${kind.hueVar})`);
    const tag = total.get(kind.letter) > 1 ? `${kind.letter}${nth}` : kind.letter;
    const name = info.label || (i === top ? "target" : info.name || kind.name);
    // Models differ by their names alone; the other kinds say more than a label does.
    const short = kind === KINDS.model && info.label ? info.label : kind.name;
    return { index: i, tag, letter: kind.letter, name, short, kind: info.kind, hue, underline: kind.underline };
  });
}

function bump(counts, key) {
  const n = (counts.get(key) ?? 0) + 1;
  counts.set(key, n);
  return n;
}
