/** The grammar of stacks on the page: `level[:T][@key=value]...`, cheapest first, the last one is the target.
 *  The server has the last word; what is checked here is checked so that the reason stands beside the control. */

import { weightsOf } from "./trunk.js";

export const RULES = Object.freeze({
  tokenwise: "tokenwise · keep a token with probability min(1, p/q)",
  block: "block · weigh the whole block at once",
  greedy: "greedy · keep what equals the first choice",
  top: "top · keep what is among the first k choices",
});
export const POLICIES = Object.freeze({
  fixed: "fixed · always T tokens",
  flush: "flush · hand up early after a correction",
  confidence: "confidence · stop when unsure",
  adaptive: "adaptive · stop when unsure, by a threshold that follows the acceptance",
  del: "del · choose exit and length anew in every round",
});
export const THETA_COUNTS = Object.freeze(["confidence", "adaptive"]); // the policies that have a threshold
export const DEFAULTS = Object.freeze({ rule: "tokenwise", policy: "fixed", theta: 0.6, bonus: "1" });
const KEYS = ["at", "policy", "theta", "rule", "k", "db", "miss", "dtype", "device", "bonus", "id"]; // the engine's order
export const MAX_BLOCK = 64;
export const MAX_TOP = 64; // k of the rule top
export const MAX_LEVELS = 8;

/** A stack's levels as [{name, block, options}], or null when the text is none. */
export function parse(text) {
  if (typeof text !== "string" || !text.trim() || text.length > 400) return null;
  const levels = text.split(",").map((part) => level(part.trim()));
  return levels.includes(null) || levels.length > MAX_LEVELS ? null : levels;
}

function level(part) {
  const [head, ...rest] = part.split("@");
  const [name, block, extra] = head.split(":");
  if (!/^[a-z][a-z0-9_-]*$/.test(name) || extra !== undefined) return null;
  if (block !== undefined && !(/^\d{1,2}$/.test(block) && +block >= 1 && +block <= MAX_BLOCK)) return null;
  const options = {};
  for (const option of rest) {
    const at = option.indexOf("=");
    if (at < 1 || at === option.length - 1) return null;
    options[option.slice(0, at)] = option.slice(at + 1);
  }
  return { name, block: block === undefined ? null : +block, options };
}

/** The text of a stack; options at their default are left out. */
export function format(levels) {
  return levels.map(({ name, block, options }, i) => name + (block && i < levels.length - 1 ? `:${block}` : "") + tail(options)).join(",");
}

/** Whether two lists of levels are one stack; a T that is left out stands for `blocks[i]`. */
export function same(a, b, blocks) {
  return a.length === b.length && a.every((one, i) => {
    const other = b[i];
    const t = (level) => (i === a.length - 1 ? null : level.block ?? blocks[i]);
    return one.name === other.name && t(one) === t(other) && tail(one.options) === tail(other.options);
  });
}

function tail(options) {
  const place = (key) => (KEYS.includes(key) ? KEYS.indexOf(key) : KEYS.length);
  return Object.entries(options)
    .filter(([key, value]) => value !== "" && String(DEFAULTS[key]) !== String(value))
    .filter(([key]) => key !== "theta" || THETA_COUNTS.includes(options.policy))
    .filter(([key]) => key !== "k" || options.rule === "top")
    .sort(([a], [b]) => place(a) - place(b))
    .map(([key, value]) => `@${key}=${value}`)
    .join("");
}

/**
 * A new level out of a catalogue entry, and where it stands: {level, index}. An exit takes the first depth with a
 * trained draft that is not in the stack yet; cheaper levels go below dearer ones, the others right below the roof.
 */
export function placed(levels, known) {
  const options = known.params?.id ? { id: known.params.id } : {};
  const level = { name: known.name, block: known.default_block ?? 4, options };
  if (known.name === "exit") options.at = String(newDepth(levels, known));
  const rank = cost(level);
  const top = Math.max(0, levels.length - 1);
  if (!known.can_verify) return { level, index: 0 };
  if (rank === null) return { level, index: top };
  const index = levels.slice(0, top).findIndex((other) => (cost(other) ?? Infinity) > rank);
  return { level, index: index < 0 ? top : index };
}

/** Lookups, then draft models, then exits by depth; null for what has a size of its own. */
function cost({ name, options }) {
  if (name === "exit") return 2 + (+options.at || 0) / 1000;
  return { ngram: 0, nano: 1 }[name] ?? null;
}

function newDepth(levels, known) {
  const { min = 1, max = 1, trained = [], default: usual } = known.depth ?? {};
  const taken = levels.filter((level) => level.name === "exit").map((level) => +level.options.at || 0);
  const free = [usual ?? +known.params?.at, ...trained].find((depth) => depth && !taken.includes(depth));
  return free ?? Math.min(max, Math.max(min, ...taken.map((depth) => depth + 1)));
}

/** Why this stack cannot run: [{index, reason}], empty when it can. `find(level)` gives its catalogue entry. */
export function faults(levels, find) {
  const found = [];
  const top = levels.length - 1;
  levels.forEach((one, index) => {
    const known = find(one, index);
    const add = (reason) => found.push({ index, reason });
    if (!known) add(`this preset has no level “${one.name}”`);
    else if (!known.usable) add(known.reason || "cannot be used here");
    else if (index > 0 && !known.can_verify) add(`${known.label} has no distribution and cannot verify; it can only be the bottom level`);
    else if (index < top && !known.can_draft) add(`${known.label} cannot draft; it can only be the top level`);
    else if (index < top && one.name === "target") add("the target stands below another level; it must be the roof");
    else if (one.options.policy === "del" && !delStands(levels, index)) add("the policy del chooses among the exits of the target right above it: keep this exit and the target only, or choose another policy");
    else if (one.name === "exit") {
      const reason = depthFault(levels, index, known.depth);
      if (reason) add(reason);
    }
  });
  return found;
}

const delStands = (levels, index) => levels.length === 2 && levels[index].name === "exit" && weightsOf(levels[0], levels[1]) === weightsOf(levels[1], levels[1]);

/** Exits read the layers that the exits below them have run, so their depths must rise up the tower. */
function depthFault(levels, index, depth) {
  const { at } = levels[index].options;
  if (!/^\d{1,3}$/.test(at ?? "")) return "set its depth: after how many layers this exit reads";
  if (depth && (+at < depth.min || +at > depth.max)) return `layer ${at} is no exit of this model: set a depth from ${depth.min} to ${depth.max}`;
  const weights = weightsOf(levels[index], levels.at(-1));
  const below = levels.slice(0, index).filter((level) => level.name !== "nano" && weightsOf(level, levels.at(-1)) === weights);
  if (weights !== null && below.some((level) => level.name !== "exit")) return "a level below runs all layers of the same weights: move this exit down";
  const deepest = Math.max(...below.map((level) => +level.options.at || 0), 0);
  return +at <= deepest ? `exits must rise in depth up the tower: one below leaves after layer ${deepest}, this one after layer ${at}; set it deeper or move it down` : "";
}
