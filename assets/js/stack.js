/** The grammar of stacks on the page: `level[:T][@key=value]...`, cheapest first, the last one is the target. Levels, keys
 *  and words are the server's (`kinds.js`), and so is the last word: what is checked here is checked so that the reason
 *  stands beside the control. */

import { grammar, usualOf } from "./kinds.js";
import { STACK } from "./words/tower.js";

const LONGEST = 400;

/** A stack as {levels, fault}: its levels as [{name, block, options}] as far as they can be drawn, else null, and what
 *  the engine refuses it with, "" where it stands. */
export function read(text) {
  const parts = String(text ?? "")
    .split(",")
    .map((part) => part.trim());
  if (!parts.every(Boolean)) return { levels: null, fault: says("empty", { text: quoted(String(text ?? "")) }) };
  const most = grammar.most_levels;
  const found = parts.map(readLevel);
  const levels = found.map(({ level }) => level);
  const fault =
    parts.length > most
      ? says("many", { levels: parts.length, most })
      : (found.find((one) => one.fault)?.fault ?? placeFaults(levels)[0]?.reason ?? "");
  return { levels: text.length > LONGEST || parts.length > most || levels.includes(null) ? null : levels, fault };
}

/** A stack's levels, or null when the text is none that can be drawn. */
export const parse = (text) => read(text).levels;

function readLevel(part) {
  const [head, ...given] = part.split("@");
  const [name, block] = cut(head, ":");
  const pairs = given.map((option) => cut(option, "="));
  const t = block === null ? null : valueOf(grammar.block, block);
  const drawn =
    /^[a-z][a-z0-9_-]*$/.test(name) && (block === null || t !== null) && pairs.every(([key, value]) => key && value);
  return {
    level: drawn ? { name, block: t, options: Object.fromEntries(pairs) } : null,
    fault: levelFault(name, block, pairs),
  };
}

/** A text before and behind the first mark; [text, null] without one. */
function cut(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

/** What is wrong with a level wherever it stands, in the engine's words; "" when nothing is. */
function levelFault(name, block, pairs) {
  const kind = grammar.kinds.get(name);
  const names = [...grammar.kinds.values()].filter((one) => !one.written).map((one) => one.name);
  if (!kind || kind.written) return says("level", { name: quoted(name), known: names.join(", ") });
  if (block !== null && valueOf(grammar.block, block) === null) return valueFault(name, grammar.block, block);
  const given = new Map();
  for (const [key, value] of pairs) {
    const known = grammar.keys.get(key);
    if (!known || !value)
      return says("key", {
        name,
        option: value === null ? key : `${key}=${value}`,
        known: [...grammar.keys.keys()].join(", "),
      });
    if (!kind.keys.includes(key)) return says("heed", { name, key, known: kind.keys.join(", ") });
    if (given.has(key)) return says("twice", { name, key });
    if (valueOf(known, value) === null) return valueFault(name, known, value);
    given.set(key, valueOf(known, value));
  }
  const rules = grammar.keys.get("k")?.when?.[1] ?? [];
  if (given.has("k") && !rules.includes(given.get("rule")))
    return says("k", { name, rule: rules[0], k: given.get("k") });
  if (given.get("replace") && !given.has("tree")) return says("replace", { name });
  const tree = given.get("tree");
  const depth = tree?.split(".").length;
  if (tree && block !== null && +block !== depth) return says("deep", { name, block: +block, tree, depth });
  return "";
}

const valueFault = (name, key, text) => STACK.value(name, key, quoted(text));

/** The value that a text stands for with a key; null where it stands for none. */
export function valueOf(key, text) {
  const within = (value) => (value >= key.low && value <= key.high ? value : null);
  switch (key.type) {
    case "whole":
      return /^\d{1,9}$/.test(text) ? within(+text) : null;
    case "switch":
      return /^\d{1,9}$/.test(text) && within(+text) !== null ? Boolean(+text) : null;
    case "share":
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? within(+text) : null;
    case "choice":
      return key.choices.includes(text) ? text : null;
    case "shape":
      return text.split(".").every((part) => /^[1-9]$/.test(part) && +part <= key.most) && nodesOf(text) <= key.nodes
        ? text
        : null;
    case "letters":
      return [...text].every((letter, i) => key.alphabet.includes(letter) && text.indexOf(letter) === i) ? text : null;
    default:
      return text;
  }
}

/** How many tokens a tree of such a shape has at most: its depths one by one. */
function nodesOf(shape) {
  let wide = 1;
  return shape.split(".").reduce((nodes, part) => nodes + (wide *= +part), 0);
}

/** How many sequences a level drafts side by side: {count, key, value}; a count of 1 is a chain. */
export function fanOf({ name, options }) {
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

/** A level's T: as it is written, as its tree says, or the usual one. */
export const blockOf = ({ block, options }, usual) => block ?? (options.tree ? options.tree.split(".").length : usual);

/** The levels that stand where they cannot work, whatever their weights: [{index, reason}], in the engine's order. */
function placeFaults(levels) {
  const found = [];
  const add = (index, what, values) => found.push({ index, reason: says(what, values) });
  const top = levels.length - 1;
  const last = levels[top];
  if (!last) return found; // nothing is drawn yet
  const kinds = levels.map((level) => grammar.kinds.get(level.name));
  if (kinds[top]?.stands === "below") add(top, "last", { name: quoted(last.name) });
  if (last.block !== null) add(top, "block", { name: last.name, block: last.block });
  levels.forEach(({ name }, i) => {
    if (i < top && kinds[i]?.stands === "last") add(i, "below", { name });
  });
  levels.forEach(({ name }, i) => {
    if (i > 0 && kinds[i]?.verifies === false) add(i, "verify", { name });
  });
  const fan = fanOf(levels[0]);
  const { name: judge, options: { rule } = {} } = levels[1] ?? {};
  if (fan.count > 1 && grammar.chains_only.includes(rule))
    add(1, "branches", { name: judge, rule, below: levels[0].name, ...fan });
  const deepest = new Map(); // weights -> layers that a level below has run
  levels.slice(0, top).forEach(({ name, options }, i) => {
    const reads = kinds[i]?.reads;
    if (!reads || reads.depth === 0) return;
    const weights = reads.weights || options.dtype || last.options.dtype;
    if (reads.depth === null) return void deepest.set(weights, Infinity);
    const at = options[reads.depth];
    if (at === undefined) return void add(i, "depth", { name });
    const reached = deepest.get(weights) ?? 0;
    if (+at <= reached)
      add(i, "rise", {
        name,
        at: +at,
        where: reached === Infinity ? grammar.says.whole : says("exit", { at: reached }),
      });
    deepest.set(weights, Math.max(reached, +at));
  });
  levels.forEach(({ name, options }, index) =>
    variants().forEach((written) => {
      if (options[written.key] !== written.value) return;
      const alone =
        levels.length === 2 && name === written.name && (options.dtype ?? last.options.dtype) === last.options.dtype;
      const set = (key) => key in options && options[key] !== grammar.keys.get(key)?.usual;
      const without = Object.keys(written.without).find(set);
      if (!alone || without)
        found.push({ index, reason: `${name}: ${alone && without ? written.without[without] : written.wrong}` });
    }),
  );
  return found;
}

/** The kinds that have no name of their own in the grammar: another kind with a key set. */
export const variants = () => [...grammar.kinds.values()].flatMap(({ written }) => written ?? []);

const says = (what, values) => grammar.says[what].replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** A text in quotes as Python writes it. */
function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = (c) =>
    ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" })[c] ?? (c === mark || c === "\\" ? `\\${c}` : coded(c.codePointAt(0)));
  return (
    mark +
    text.replace(/[\\'"]|(?! )[\p{C}\p{Z}]/gu, (c) =>
      c === '"' && mark === "'" ? c : c === "'" && mark === '"' ? c : escaped(c),
    ) +
    mark
  );
}

const coded = (point) =>
  point < 0x100 ? `\\x${hex(point, 2)}` : point < 0x10000 ? `\\u${hex(point, 4)}` : `\\U${hex(point, 8)}`;
const hex = (point, length) => point.toString(16).padStart(length, "0");

/** The text of a stack; what a level has without saying so is left out. */
export function format(levels) {
  return levels
    .map((level, i) => level.name + (level.block && i < levels.length - 1 ? `:${level.block}` : "") + tail(level))
    .join(",");
}

/** Whether two lists of levels are one stack; a T that is left out stands for `blocks[i]`. */
export function same(a, b, blocks) {
  return (
    a.length === b.length &&
    a.every((one, i) => {
      const other = b[i];
      const t = (level) => (i === a.length - 1 ? null : blockOf(level, blocks[i]));
      return one.name === other.name && t(one) === t(other) && tail(one) === tail(other);
    })
  );
}

const tail = (level) =>
  written(level)
    .map(([key, value]) => `@${key}=${value}`)
    .join("");

/** The options that count and that differ from what a level has anyway, in the grammar's order. */
function written({ name, options }) {
  const order = [...grammar.keys.keys()];
  const place = (key) => (order.includes(key) ? order.indexOf(key) : order.length);
  return Object.entries(options)
    .filter(([key, value]) => value !== "" && usualOf(name, key, options) !== String(value) && counts(key, options))
    .sort(([a], [b]) => place(a) - place(b));
}

/** Whether a key counts beside the others: a threshold belongs to some policies alone, replacement to any tree. */
export function counts(key, options) {
  const [other, values] = grammar.keys.get(key)?.when ?? [null, []];
  return other === null || (values.length ? values.includes(options[other]) : Boolean(options[other]));
}

/**
 * A new level out of a catalogue entry, and where it stands: {level, index}. An exit takes the first depth with a
 * trained draft that is not in the stack yet; cheaper levels go below dearer ones, the others right below the roof.
 */
export function placed(levels, known) {
  const options = known.params?.id ? { id: known.params.id } : {};
  const level = { name: known.name, block: known.default_block ?? 4, options };
  if (known.depth) options.at = String(newDepth(levels, known));
  const rank = cost(level);
  const top = Math.max(0, levels.length - 1);
  if (!known.can_verify) return { level, index: 0 };
  if (rank === null) return { level, index: top };
  const index = levels.slice(0, top).findIndex((other) => (cost(other) ?? Infinity) > rank);
  return { level, index: index < 0 ? top : index };
}

/** Lookups, then draft models, then exits by depth; null for what has a size of its own. */
function cost({ name, options }) {
  const kind = grammar.kinds.get(name);
  return kind?.cheap ? kind.order + (+options.at || 0) / 1000 : null;
}

function newDepth(levels, known) {
  const { min = 1, max = 1, trained = [], default: usual } = known.depth;
  const taken = levels.filter((level) => level.name === known.name).map((level) => +level.options.at || 0);
  const free = [usual ?? +known.params?.at, ...trained].find((depth) => depth && !taken.includes(depth));
  return free ?? Math.min(max, Math.max(min, ...taken.map((depth) => depth + 1)));
}

/** Why this stack cannot run: [{index, reason}], empty when it can. `find(level)` gives its catalogue entry. */
export function faults(levels, find) {
  const top = levels.length - 1;
  const standing = placeFaults(levels.map((level, i) => (i === top ? { ...level, block: null } : level)));
  return levels.flatMap((one, index) => {
    const reason =
      whyNot(one, find(one, index), index < top) || standing.find((fault) => fault.index === index)?.reason;
    return reason ? [{ index, reason }] : [];
  });
}

/** What is wrong with a level in this preset; "" when nothing is. */
function whyNot({ name, options }, known, below) {
  if (!known) return STACK.noLevel(name);
  if (!known.usable) return known.reason || STACK.unusable;
  if (below && !known.can_draft) return STACK.cannotDraft(known.label);
  const fault = levelFault(name, null, written({ name, options }));
  if (fault || !known.depth || options.at === undefined) return fault;
  const { min, max } = known.depth;
  return +options.at < min || +options.at > max ? STACK.noExit(options.at, min, max) : "";
}
