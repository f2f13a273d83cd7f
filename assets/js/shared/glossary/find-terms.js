/** Where words of the glossary stand in a text. */

import { GLOSSARY } from "../../../text/en/glossary.js";

/** @type {Map<string, string>} the entry of a word's form, in small letters */
const ENTRIES = new Map(
  Object.entries(GLOSSARY).flatMap(([name, { word, forms = [] }]) =>
    [word, ...forms].map((form) => /** @type {[string, string]} */ ([form.toLowerCase(), name])),
  ),
);
const longestFirst = [...ENTRIES.keys()].sort((a, b) => b.length - a.length);
const FORMS = new RegExp(`(?<![\\p{L}-])(?:${longestFirst.join("|")})(?![\\p{L}-])`, "giu");

/**
 * A text in parts: those that are a word of the glossary at its first place, and what stands between them.
 * @param {string} text
 * @param {Set<string>} seen entries that have been explained; those found here are added
 * @returns {{text: string, entry: string|null}[]}
 */
export function findTerms(text, seen = new Set()) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(FORMS)) {
    const entry = ENTRIES.get(found[0].toLowerCase()) ?? "";
    if (seen.has(entry)) continue;
    seen.add(entry);
    if (found.index > at) parts.push({ text: text.slice(at, found.index), entry: null });
    parts.push({ text: found[0], entry });
    at = found.index + found[0].length;
  }
  if (at < text.length) parts.push({ text: text.slice(at), entry: null });
  return parts;
}
