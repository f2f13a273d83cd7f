/** A language of four words and blocks of five cells, small enough to compute the law of every way to fill it: no text is
 *  drawn, all 1,024 are summed over. As in hsd_core/systems/canvas, whose tests hold the same numbers. */

export const WORDS = ["cats", "dogs", "sing", "sleep"];
export const CELLS = 5;
/** The law of a word after each; the row of `FIRST` begins a block. */
const STEP = [
  [0.05, 0.1, 0.6, 0.25],
  [0.1, 0.05, 0.2, 0.65],
  [0.55, 0.3, 0.05, 0.1],
  [0.25, 0.6, 0.1, 0.05],
];
const FIRST = [0.45, 0.35, 0.12, 0.08];
const COUNT = WORDS.length;

/** @typedef {number[]} Row @typedef {(number|null)[]} Canvas @typedef {Map<string, number>} Law by text */

const normal = (/** @type {Row} */ row) => {
  const sum = row.reduce((a, b) => a + b, 0);
  return sum > 0 ? row.map((x) => x / sum) : row;
};

/** The law of every cell given the filled ones (forward-backward). @param {Canvas} canvas @returns {Row[]} */
export function marginals(canvas) {
  const seen = canvas.map((word) => WORDS.map((_, w) => Number(word === null || word === w)));
  /** @type {Row[]} */ const ahead = [];
  canvas.forEach((_, i) => {
    const from = i ? WORDS.map((_, w) => WORDS.reduce((sum, _, v) => sum + ahead[i - 1][v] * STEP[v][w], 0)) : FIRST;
    ahead.push(normal(from.map((x, w) => x * seen[i][w])));
  });
  /** @type {Row[]} */ const back = canvas.map(() => WORDS.map(() => 1));
  for (let i = canvas.length - 2; i >= 0; i--)
    back[i] = normal(
      WORDS.map((_, v) => WORDS.reduce((sum, _, w) => sum + STEP[v][w] * seen[i + 1][w] * back[i + 1][w], 0)),
    );
  return ahead.map((row, i) => normal(row.map((x, w) => x * back[i][w])));
}

/** The language's own law of a block. @returns {Law} */
export function joint() {
  /** @type {Law} */ const law = new Map();
  const go = (/** @type {number[]} */ text, /** @type {number} */ mass) => {
    if (text.length === CELLS) return void law.set(text.join(), mass);
    const row = text.length ? STEP[text[text.length - 1]] : FIRST;
    row.forEach((p, w) => go([...text, w], mass * p));
  };
  go([], 1);
  return law;
}

/** How often the noise that drew x from m draws it from q too. @param {Row} m @param {Row} q @param {number} x */
export function believed(m, q, x) {
  if (!(q[x] > 0) || !(m[x] > 0)) return 0;
  return Math.min(1, 1 / q.reduce((sum, _, y) => sum + Math.max(q[y] / q[x], m[y] / m[x]), 0) / m[x]);
}

/** APD's law of a block, and its passes: `most` cells of a pass are drawn from their own rows, and kept from the left as
 *  far as a reader believes them, who mixes a share r of the model with its own. @param {number} most @param {number} r */
export function apd(most, r) {
  /** @type {Law} */ const law = new Map();
  const known = new Map();
  let passes = 0;
  const fill = (/** @type {number[]} */ text, /** @type {number} */ mass) => {
    if (!mass) return;
    if (text.length === CELLS) return void law.set(text.join(), (law.get(text.join()) ?? 0) + mass);
    passes += mass;
    const key = text.join();
    if (!known.has(key)) known.set(key, marginals(canvasOf(text)));
    const rows = known.get(key);
    const end = Math.min(CELLS, text.length + most);
    const follow = (/** @type {number[]} */ so, /** @type {number} */ left) => {
      if (so.length === end) return fill(so, left);
      const m = rows[so.length];
      const p = STEP[so[so.length - 1]];
      const q = normal(m.map((/** @type {number} */ x, /** @type {number} */ w) => x ** r * p[w] ** (1 - r)));
      let kept = 0;
      for (let x = 0; x < COUNT; x++) {
        const chance = m[x] * believed(m, q, x);
        kept += chance;
        follow([...so, x], left * chance);
      }
      fill(so, left * Math.max(0, 1 - kept)); // nothing replaces the rejected one
    };
    rows[text.length].forEach((/** @type {number} */ chance, /** @type {number} */ x) =>
      follow([...text, x], mass * chance),
    );
  };
  fill([], 1);
  return { law, perPass: CELLS / passes };
}

/** @param {number[]} text @returns {Canvas} */
const canvasOf = (text) => Array.from({ length: CELLS }, (_, i) => text[i] ?? null);

/** The share of the law that is on other texts than it should be. @param {Law} one @param {Law} other */
export function apart(one, other) {
  let sum = 0;
  for (const text of new Set([...one.keys(), ...other.keys()]))
    sum += Math.abs((one.get(text) ?? 0) - (other.get(text) ?? 0));
  return sum / 2;
}
