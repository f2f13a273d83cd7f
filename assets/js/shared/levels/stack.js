/** The grammar of stacks on the page: `level[:T][@key=value]...`, cheapest first, the last one is the target. A text is
 *  read as far as it can be drawn; whether a stack stands, the server says. */

import { depthsOf, grammar, heeds, usualOf } from "./kinds.js";
import { STACK } from "../../../text/en/tower.js";

/** @typedef {{name: string, block: number|null, options: Record<string, string>}} Level */
/** A level in a preset's catalogue, as hsd_core/grammar/kind.py has it.
 *  @typedef {{name: string, kind: string, label: string, can_draft: boolean, can_verify: boolean, default_block: number|null,
 *    usable: boolean, reason: string, params: Record<string, any>, depth?: {min: number, max: number, trained?: number[], default?: number}, drafts?: Draft[]}} Entry
 *  @typedef {{name: string, title?: string, at?: number, fed?: boolean}} Draft a trained one; at: of an exit after so many layers
 *  @typedef {{name: string, title: string, usable: boolean, reason: string, needs_download: boolean, download_mb: number, memory_gb: number,
 *    default_stack: string, default?: import("./default-said.js").DefaultStack, target?: boolean, stacks: {name: string, title: string, stack: string, note: string, replan: boolean}[], levels: Entry[], devices: {name: string, usable: boolean, reason: string}[]}} Preset
 */

const LONGEST = 400;

/** A stack's levels as [{name, block, options}], or null when the text is none that can be drawn. */
export function parse(/** @type {string|null|undefined} */ text) {
  const parts = (text ?? "").split(",").map((part) => part.trim());
  if (!text || !parts.every(Boolean) || text.length > LONGEST || parts.length > grammar.most_levels) return null;
  const levels = parts.map(readLevel);
  return levels.every((level) => level !== null) ? levels : null;
}

/** @param {string} part @returns {Level|null} */
function readLevel(part) {
  const [head, ...given] = part.split("@");
  const [name, block] = cut(head, ":");
  const pairs = /** @type {[string, string][]} */ (given.map((option) => cut(option, "=")));
  const { low, high } = grammar.block;
  const t = block === null || (/^\d{1,9}$/.test(block) && +block >= low && +block <= high);
  const drawn = t && /^[a-z][a-z0-9_-]*$/.test(name) && pairs.every(([key, value]) => key && value);
  return drawn ? { name, block: block === null ? null : +block, options: Object.fromEntries(pairs) } : null;
}

/** A text before and behind the first mark; [text, null] without one.
 *  @param {string} text @param {string} mark @returns {[string, string|null]} */
function cut(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

/** A stack whose target is another one of these presets, as that preset's own stack: {preset, stack}; else null.
 *  @param {string} text @param {string[]} presets */
export function overOther(text, presets) {
  const levels = parse(text);
  const last = levels?.at(-1);
  if (!levels || !last || !isTarget(last.name)) return null;
  const preset = presets.find((name) => [name, `${name}.gguf`].includes(last.options.id ?? ""));
  if (!preset) return null;
  const { id: _, ...options } = last.options;
  return { preset, stack: format([...levels.slice(0, -1), { ...last, options }]) };
}

const isTarget = (/** @type {string} */ name) => grammar.kinds.get(name)?.stands === "last";

/** How many sequences a level drafts side by side: {count, key, value}; a count of 1 is a chain. */
export function fanOf(/** @type {Pick<Level, "name"|"options">} */ { name, options }) {
  for (const one of grammar.kinds.get(name)?.keys ?? []) {
    const key = grammar.keys.get(one);
    const value = options[one] ?? usualOf(name, one);
    if (!key?.fans || !value) continue;
    const count =
      key.type === "shape"
        ? value.split(".").reduce((product, part) => product * +part, 1)
        : +value + (key.beside ?? 0);
    if (count > 1) return { count, key: one, value };
  }
  return { count: 1, key: "", value: "" };
}

/** A level's T: as it is written, as its tree says, or the usual one.
 *  @template {number|null} T @param {Pick<Level, "block"|"options">} level @param {T} usual @returns {number|T} */
export const blockOf = ({ block, options }, usual) => block ?? (options.tree ? options.tree.split(".").length : usual);

/** The kinds that have no name of their own in the grammar: another kind with a key set. */
export const variants = () => [...grammar.kinds.values()].flatMap(({ written }) => written ?? []);

/** The text of a stack; what a level has without saying so is left out. @param {Level[]} levels */
export function format(levels) {
  return levels
    .map((level, i) => level.name + (level.block && i < levels.length - 1 ? `:${level.block}` : "") + tail(level))
    .join(",");
}

/** Whether two lists of levels are one stack; a T that is left out stands for `blocks[i]`. */
export function same(/** @type {Level[]} */ a, /** @type {Level[]} */ b, /** @type {(number|null)[]} */ blocks) {
  return (
    a.length === b.length &&
    a.every((one, i) => {
      const other = b[i];
      const t = (/** @type {Level} */ level) => (i === a.length - 1 ? null : blockOf(level, blocks[i]));
      return one.name === other.name && t(one) === t(other) && tail(one) === tail(other);
    })
  );
}

const tail = (/** @type {Level} */ level) =>
  written(level)
    .map(([key, value]) => `@${key}=${value}`)
    .join("");

/** The options that count and that differ from what a level has anyway, in the grammar's order. @param {Level} level */
function written({ name, options }) {
  const order = [...grammar.keys.keys()];
  const place = (/** @type {string} */ key) => (order.includes(key) ? order.indexOf(key) : order.length);
  return Object.entries(options)
    .filter(
      ([key, value]) => value !== "" && usualOf(name, key, options) !== String(value) && counts(key, options, name),
    )
    .sort(([a], [b]) => place(a) - place(b));
}

/** Whether a level's key counts beside the others: a threshold belongs to some policies alone where the level has one,
 *  replacement to any tree. @param {string} key @param {Record<string, string>} options @param {string} name */
export function counts(key, options, name) {
  const { when, of = [] } = grammar.keys.get(key) ?? {};
  const chosen = when && heeds(name, when[0]) ? (options[when[0]] ?? usualOf(name, when[0])) : null;
  if (when && chosen !== null && !when[1].includes(chosen)) return false;
  return !of.length || of.some((other) => options[other]);
}

/** A new level out of a catalogue entry, and where it stands: {level, index}. An exit takes the first depth with a
 *  trained draft that is not in the stack yet; cheaper levels go below more expensive ones, the others right below the roof.
 */
export function placed(/** @type {Level[]} */ levels, /** @type {Entry} */ known) {
  const { id, at } = known.params ?? {};
  const options = { ...(id ? { id } : {}), ...(at && !known.depth ? { at: String(at) } : {}) };
  const level = { name: known.name, block: known.default_block ?? 4, options };
  if (known.depth) options.at = String(newDepth(levels, known));
  const rank = cost(level);
  const top = Math.max(0, levels.length - 1);
  if (!known.can_verify) return { level, index: 0 };
  if (rank === null) return { level, index: top };
  const index = levels.slice(0, top).findIndex((other) => (cost(other) ?? Infinity) > rank);
  return { level, index: index < 0 ? top : index };
}

/** Lookups, then draft models, then exits by depth; null for what has a size of its own. @param {Level} level */
function cost({ name, options }) {
  const kind = grammar.kinds.get(name);
  return kind?.cheap ? kind.order + (depthsOf(options.at)[0] ?? 0) / 1000 : null;
}

function newDepth(/** @type {Level[]} */ levels, /** @type {Entry} */ known) {
  const { min = 1, max = 1, trained = [], default: usual } = known.depth ?? {};
  const taken = levels.filter((level) => level.name === known.name).map((level) => +level.options.at || 0);
  const free = [usual ?? +known.params?.at, ...trained].find((depth) => depth && !taken.includes(depth));
  return free ?? Math.min(max, Math.max(min, ...taken.map((depth) => depth + 1)));
}

/** Why a preset has no such level, from its entry in the catalogue; "" when it has. `below`: it is not the top level.
 *  @param {Level} level @param {Entry|null} known @param {boolean} below */
export function missing({ name, options }, known, below) {
  if (!known) return STACK.noLevel(name);
  if (isTarget(name) && options.id) return STACK.noTarget(options.id);
  if (!known.usable) return known.reason || STACK.unusable;
  if (below && !known.can_draft) return STACK.cannotDraft(known.label);
  if (!known.depth || options.at === undefined) return "";
  const { min, max } = known.depth;
  return +options.at < min || +options.at > max ? STACK.noExit(options.at, min, max) : "";
}
