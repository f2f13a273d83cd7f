/** What the server says, in the page's language: English sentences are looked up in `server.json` of its folder, where
 *  `{name}` stands for a part that changes. Each part is looked up in turn; what is not found stays as it is. */

import { ROOMS } from "./language.js";

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

/** @param {string} text @returns {string} */
export function heard(text) {
  if (Object.hasOwn(known, text)) return known[text];
  for (const { english, form } of patterns) {
    const parts = form.exec(text)?.groups;
    if (parts) return known[english].replace(/\{(\w+)\}/g, (_, name) => heard(parts[name]));
  }
  return text;
}
