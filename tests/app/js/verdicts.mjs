// Whether a question has one right choice whatever the figures are: its conditions are tried with values on both sides of every
// number in them, in all combinations that can be.
import { holdsBy, references } from "../../../assets/js/tabs/learn/figures/refs.js";

const key = ({ source, name }) => `${source}|${name}`;
const EPSILON = 0.001;

/** Figures for which not exactly one choice is right, in words; null where there are none. */
export function counterexample({ choices }) {
  const conditions = choices.map((one) => one.when).filter(Boolean);
  const names = [...new Set(conditions.flatMap(references).map(key))];
  const written = conditions.flatMap((one) => one.split(" ").map(Number)).filter((x) => !Number.isNaN(x));
  const values = [...new Set([0, 1, 2, ...written].flatMap((x) => [x - EPSILON, x, x + EPSILON]))];
  for (const figures of combinations(names, values)) {
    if (!possible(figures)) continue;
    const right = conditions.filter((one) =>
      holdsBy(one, (source, name) => figures.get(key({ source, name })) ?? null),
    );
    if (right.length !== 1) return `${right.length} choices are right where ${JSON.stringify([...figures])}`;
  }
  return null;
}

function* combinations(names, values) {
  if (!names.length) return;
  const total = values.length ** names.length;
  for (let n = 0; n < total; n++)
    yield new Map(names.map((name, i) => [name, values[Math.floor(n / values.length ** i) % values.length]]));
}

/** An interval's ends lie around its figure. */
function possible(figures) {
  for (const [name, high] of figures) {
    if (!name.endsWith("high")) continue;
    const base = name.slice(0, -"high".length);
    const [low, mean] = [figures.get(`${base}low`), figures.get(base.replace(/\.$/, ""))];
    if (low > high || mean > high || low > mean) return false;
  }
  return true;
}
