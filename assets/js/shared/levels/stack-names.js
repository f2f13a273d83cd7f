/** What a stack is called where it is read, "Lookups, then an 8-bit copy, then the model", and each of its levels, "8-bit copy",
 *  out of the words that kinds, keys, rules and policies declare. hsd_core/grammar/stack_names.py puts the same together: one table of names holds for
 *  both (tests/stack_names.json). */

import { h } from "../kit/dom.js";
import { grammar, numbered, usualOf } from "./kinds.js";
import { counts, parse } from "./stack.js";

/** @import {Kind} from "./kinds.js" @import {Level} from "./stack.js" */

const WITH = "with"; // that levels work at the same time is said of every stack
const BLOCK = "block"; // beside the keys' names in what a level was given
const SLOT = /\{(\w+)\}/g;
const ASIDE = /\[.*?\]/g; // of a form: what stands in sentences alone

/** @typedef {{phrase: string, used: string[], told: Map<string, string>, level: Level}} Part a level's words, the keys
 *    that they tell whole, and all that it was given */

/** The name of one stack; the text itself where it is none. @param {string} text */
export const stackName = (text) => /** @type {string} */ (stackNames([text]).get(text));

/** What a level is called by itself: "8-bit copy". How many candidates it offers is no part of it. @param {Level} level */
export function levelName(level) {
  const told = new Map([...toldOf(level)].filter(([key]) => !grammar.keys.get(key)?.fans));
  return formOf(level, told)
    .replace(ASIDE, "")
    .replace(SLOT, (_, key) => term(level, key, told.get(key) ?? ""));
}

/** The same with how many candidates it offers and what stands beside it: "7 lookups at once". @param {Level} level */
export function fullLevelName(level) {
  const told = toldOf(level);
  const form = formOf(level, told).replace(ASIDE, "");
  return surrounded(
    level,
    form.replace(SLOT, (_, key) => term(level, key, told.get(key) ?? "")),
    told,
  );
}

/** What the levels of a stack are called, cheapest first; of several by one name each has its number.
 *  @param {string} text @param {readonly {label?: string}[]} [infos] of the levels, which are called by their labels
 *    where the text is no stack of that many */
export function levelNames(text, infos) {
  const parts = read(text) ?? [];
  if (infos && parts.length !== infos.length) return infos.map(({ label }) => label ?? "");
  return numbered(parts.map(({ level }) => levelName(level)));
}

/** What a level is called in a sentence: "an 8-bit copy"; its spec itself where it is none. @param {string} spec */
export const levelPhrase = (spec) => read(`${spec},target`)?.[0].phrase ?? spec;

/** Names of stacks that stand together, by text. Where several would be called the same, parentheses say what tells them
 *  apart, shape and block lengths first, and no more than is needed; what a level has anyway is not said.
 *  @param {string[]} texts @returns {Map<string, string>} */
export function stackNames(texts) {
  const stacks = new Map(texts.map((text) => [text, read(text)]));
  const names = new Map([...stacks].map(([text, stack]) => [text, stack ? joined(stack, []) : text]));
  for (const name of new Set(names.values())) {
    const group = [...names.keys()].filter((text) => names.get(text) === name && stacks.get(text));
    const told = group.map((text) => stacks.get(text)?.map((part) => part.told) ?? []);
    const telling = /** @type {string[]} */ ([]);
    for (const key of order()) if (many(told, [...telling, key]) > many(told, telling)) telling.push(key);
    for (const text of group) names.set(text, joined(/** @type {Part[]} */ (stacks.get(text)), telling));
  }
  return names;
}

/** A stack's name, with its code one press away.
 *  @param {string} text @param {Map<string, string>} [names] of the stacks that it stands among */
export function nameOfStack(text, names = stackNames([text])) {
  const code = h("code.hx-stack-code", { text, hidden: true });
  const press = () => {
    code.hidden = !code.hidden;
    button.setAttribute("aria-expanded", String(!code.hidden));
  };
  const name = names.get(text) ?? text;
  const button = h("button.hx-stack-name", { title: text, "aria-expanded": "false", onclick: press, text: name });
  return name === text ? h("code", text) : h("span.hx-stack-named", [button, code]);
}

/** How many of them differ in these keys. @param {Map<string, string>[][]} group @param {string[]} keys */
const many = (group, keys) =>
  new Set(group.map((stack) => JSON.stringify(stack.map((told) => keys.map((key) => told.get(key) ?? null))))).size;

/** What may be told, in its order: the shape of a tree says its length too, so lengths stand behind it. */
function order() {
  const keys = [...grammar.keys.keys()];
  const at = keys.indexOf("grow") + 1;
  return [...keys.slice(0, at), BLOCK, ...keys.slice(at)];
}

/** @param {string} text @returns {Part[]|null} */
function read(text) {
  const levels = parse(text);
  return levels?.every(({ name }) => grammar.kinds.has(name)) ? levels.map(partOf) : null;
}

/** @param {Part[]} stack @param {string[]} telling */
function joined(stack, telling) {
  const { then, alone, again, aside } = grammar.joints;
  const keys = order().filter((key) => key === WITH || telling.includes(key));
  let units = 0;
  const parts = stack.map((part, i) => {
    const given = keys.filter((key) => part.told.has(key) && !part.used.includes(key));
    const notes = given.map((key) => noted(part, key, units));
    if (given.includes(BLOCK)) units += 1;
    const said = part.phrase === stack[i - 1]?.phrase ? again : part.phrase;
    return notes.length ? filled(aside, { level: said, notes: notes.join(", ") }) : said;
  });
  const whole = parts.length > 1 ? parts.join(then) : filled(alone, { level: parts[0] });
  const [{ used, level }] = stack;
  const named = used.includes("id") && whole.startsWith(term(level, "id", level.options.id));
  return named ? whole : whole[0].toUpperCase() + whole.slice(1);
}

/** @param {Level} level @returns {Part} */
function partOf(level) {
  const told = toldOf(level);
  const form = formOf(level, told).replace(/[[\]]/g, "");
  const used = slots(form);
  const own = filled(form, Object.fromEntries(used.map((key) => [key, term(level, key, told.get(key) ?? "")])));
  const phrase = surrounded(level, own, told);
  return { phrase, used, told, level };
}

/** What stands around a level's words for keys that it was given. @param {Level} level @param {string} phrase @param {Map<string, string>} told */
function surrounded(level, phrase, told) {
  const { around } = kindWritten(level).said;
  for (const [name, key] of grammar.keys) {
    const form = around[name] ?? key.around;
    if (form && told.has(name)) phrase = filled(form, { level: phrase });
  }
  return phrase;
}

/** @param {Level} level @param {Map<string, string>} told */
const formOf = (level, told) =>
  kindWritten(level).said.forms.find((one) => slots(one).every((key) => told.has(key))) ?? "";

/** What a level was given and would not have anyway, as written: its block length, and the keys that count. */
function toldOf(/** @type {Level} */ level) {
  const { name, block, options } = level;
  const kind = kindWritten(level);
  const told = new Map();
  if (kind.stands !== "last" && !options.tree) told.set(BLOCK, String(block ?? kind.block));
  for (const key of grammar.keys.keys()) {
    const value = options[key];
    if (value && key !== kind.written?.key && counts(key, options, name) && value !== usualOf(name, key, options))
      told.set(key, value);
  }
  return told;
}

/** The kind of a level as written. @param {Level} level */
function kindWritten({ name, options }) {
  const variant = [...grammar.kinds.values()].find(
    ({ written }) => written?.name === name && options[written.key] === written.value,
  );
  return variant ?? /** @type {Kind} */ (grammar.kinds.get(name));
}

/** @param {string} form @returns {string[]} */
const slots = (form) => [...form.matchAll(SLOT)].map(([, key]) => key);

/** @param {string} form @param {Record<string, string>} values */
const filled = (form, values) => form.replace(SLOT, (_, key) => values[key]);

/** @param {Level} level @param {string} key @param {string} value */
function term(level, key, value) {
  const terms = { ...grammar.keys.get(key)?.terms, ...kindWritten(level).said.terms };
  return terms[value] ?? /** @type {string} */ (value.split("/").at(-1));
}

/** What is told of a key; of block lengths the first one has a unit. @param {Part} part @param {string} key @param {number} units */
function noted({ level, told }, key, units) {
  const value = told.get(key) ?? "";
  if (key !== BLOCK) return (grammar.keys.get(key)?.noted ?? "").replace("{}", () => term(level, key, value));
  const { token, tokens } = grammar.joints;
  return units ? value : value === "1" ? token : filled(tokens, { n: value });
}
