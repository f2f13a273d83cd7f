/** The sentences of a level with a running state. */

import { translate } from "../../../text/language.js";
import { many } from "../../../text/many.js";

export const STATE = {
  sum: "the running sum of all text before",
  says: (/** @type {{name: string, tokens: number, read: number, all: number}} */ x) =>
    `${x.name} keeps one running sum of the text, and no keys. In one pass each of its ${many(x.tokens, "token")} reads that sum (left) and the tokens on its own path: ${x.read} of ${x.all} cells.`,
};

export const MEMORY = {
  title: "What a draft remembers",
  about: "bytes and time by the length of the text: keys and values beside running states",
  lead: (/** @type {string} */ preset, /** @type {{machine: string, day: string}} */ x) =>
    `Two drafts of ${preset} of one size: nano keeps keys and values of every token, nano-states a running sum, as STree\u2019s drafts do (arXiv 2505.14969). ${x.machine}, ${x.day}.`,
  unreachable: "The server could not send what drafts remember; open this tab again to retry.",
  command: "Command",
  length: "tokens of text",
  draft: "draft",
  bytes: {
    title: "What is kept of the text",
    text: "Counted. Keys and values grow with the text. A sum does not; beside it stand the inputs of the last tokens, so that a draft can be taken back.",
    axis: "MB",
    hover: "%{fullData.name}<br>%{x:,} tokens: %{y:.2f} MB<extra></extra>",
  },
  ms: {
    title: "What one more drafted token takes",
    text: "Measured, with 95 % intervals. On short texts keys and values are quicker to read: their draft runs compiled, the sum\u2019s does not.",
    axis: "ms",
    hover: "%{fullData.name}<br>%{x:,} tokens: %{y:.2f} ms<extra></extra>",
  },
};

translate("systems/stree", { STATE, MEMORY });
