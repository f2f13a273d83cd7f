/** The length of a text, where a stack's price depends on it. */

import { grammar } from "./kinds.js";
import { parse } from "./stack.js";

/** Whether one of its levels reads a part of the cache: the target's passes grow with the text, such a level's do not. @param {string} stack */
export const dependsOnLength = (stack) =>
  Boolean(parse(stack)?.some((level) => grammar.kinds.get(level.name)?.reads?.part));

/** Tokens of text in the middle of a run; null where none is shown. @param {{prompt_ids: number[], max_new_tokens: number}|null} header */
export const lengthOf = (header) => header && header.prompt_ids.length + Math.floor(header.max_new_tokens / 2);
