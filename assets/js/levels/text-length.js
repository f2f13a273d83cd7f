/** The length of a text, where a stack's price depends on it. */

import { parse } from "./stack.js";

/** Whether a view is among its levels: the target's passes grow with the text, a view's do not. @param {string} stack */
export const dependsOnLength = (stack) => Boolean(parse(stack)?.some((level) => level?.name === "view"));

/** Tokens of text in the middle of a run; null where none is shown. @param {{prompt_ids: number[], max_new_tokens: number}|null} header */
export const lengthOf = (header) => header && header.prompt_ids.length + Math.floor(header.max_new_tokens / 2);
