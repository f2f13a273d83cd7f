/** The grammar of stacks on the page: `level[:T][@key=value]...`, cheapest first, the last one is the target.
 *  The server has the last word; what is checked here is checked so that the reason stands beside the control. */

export const RULES = Object.freeze({
  tokenwise: "tokenwise · keep a token with probability min(1, p/q)",
  block: "block · weigh the whole block at once",
  greedy: "greedy · keep what equals the first choice",
});
export const POLICIES = Object.freeze({
  fixed: "fixed · always T tokens",
  flush: "flush · hand up early after a correction",
  confidence: "confidence · stop when unsure",
});
export const DEFAULTS = Object.freeze({ rule: "tokenwise", policy: "fixed", theta: 0.6, bonus: "1" });
const KEYS = ["policy", "theta", "rule", "db", "dtype", "device", "bonus", "id"]; // the engine's order
export const MAX_BLOCK = 64;
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
    .filter(([key]) => key !== "theta" || options.policy === "confidence")
    .sort(([a], [b]) => place(a) - place(b))
    .map(([key, value]) => `@${key}=${value}`)
    .join("");
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
  });
  return found;
}
