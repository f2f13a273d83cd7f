/** What the server says, in the page's language: English sentences are looked up in `server.json` of its folder, where
 *  `{name}` stands for a part that changes. Each part is looked up in turn; what is not found stays as it is, but for
 *  what stands between thousands. */

import { LANGUAGE, ROOMS } from "./language.js";
import { count } from "./numbers.js";

/** @type {Record<string, string>} */
const known = ROOMS.server ?? {};
const escaped = (/** @type {string} */ text) => text.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
const literal = (/** @type {string} */ text) => text.replace(/\{\w+\}/g, "").length;

/** What has parts that change, the most definite first. */
const patterns = Object.keys(known)
  .filter((english) => english.includes("{"))
  .sort((a, b) => literal(b) - literal(a))
  .map((english) => ({
    english,
    form: new RegExp(`^${escaped(english).replace(/\{(\w+)\}/g, "(?<$1>.+?)")}$`, "s"),
  }));

const NAMES = new Set(["name", "kind", "value", "letter", "stack", "prompt"]); // of things, not for eyes

/** What a control is called, which may be spelled as a key is: `server.json` has it as "label: guesses".
 *  @param {any} text */
const labelled = (text) => known[`label: ${text}`] ?? translated(text);

/** Parts with forms of their own. @type {Record<string, (part: any) => any>} */
const FORMS = { label: labelled, reason: (part) => (typeof part === "string" ? heard(part) : part) };

/** What the page is told once, such as the names of levels: strings that are known as a whole, wherever they stand in it.
 *  @template T @param {T} told @returns {T} */
export function translated(told) {
  if (LANGUAGE === "en") return told;
  if (typeof told === "string") return /** @type {any} */ (Object.hasOwn(known, told) ? known[told] : told);
  if (Array.isArray(told)) return /** @type {any} */ (told.map(translated));
  if (!told || typeof told !== "object") return told;
  const parts = Object.entries(told).map(([name, part]) => [
    name,
    NAMES.has(name) ? part : (FORMS[name] ?? translated)(part),
  ]);
  return Object.fromEntries(parts);
}

/** @param {string} text @returns {string} */
export function heard(text) {
  if (Object.hasOwn(known, text)) return known[text];
  if (/^\d{1,3}(?:,\d{3})+$/.test(text)) return count(Number(text.replaceAll(",", "")));
  for (const { english, form } of patterns) {
    const parts = form.exec(text)?.groups;
    if (parts) return known[english].replace(/\{(\w+)\}/g, (_, name) => heard(parts[name]));
  }
  return text;
}
