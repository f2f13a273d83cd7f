/** The help: how to read every part of the page, its keys, and whose name it bears. */

import { translate } from "../language.js";

/** @type {[string, [string, string][]][]} */
export const PARTS = [
  [
    "The page",
    [
      ["a word with a dotted line", "press it: what it means, in two sentences and a picture"],
      ["Where the time goes", "opens the lanes, the charts, the anatomy of a round and the proof"],
      ["Theory said 1.71\u00d7", "opens the prediction, why it missed, and what each level is worth"],
      ["Change, More", "all that changes the stack; recordings, settings, sharing and how the text is shown"],
    ],
  ],
  [
    "The text",
    [
      ["colour, letter, underline", "the level that supplied the token; change this with \u201ccolour by\u201d"],
      ["dot above", "a level below the target accepted the token; one dot per level"],
      ["outline, no fill", "not committed yet: a level above may still reject it"],
      ["struck through, xQ", "a draft that level Q rejected, where it stood; the line has the colour of Q"],
      ["\u21b5, \u25cc", "a line break; a token that holds only part of a character"],
      ["+2", "two more rejected drafts at this place, or tokens lost after one: click to see them"],
    ],
  ],
  [
    "The caption",
    [
      ["Round 5: \u2026", "what happens at the moment shown; every figure comes from the trace"],
      ["p 0.61 against 0.02", "the verifier\u2019s probability of its own choice and of the rejected token"],
      ["pause at \u2715", "the replay pauses at each rejection for as long as it takes to read about it"],
    ],
  ],
  [
    "The tower",
    [
      ["T", "the most tokens that a level hands up"],
      ["ms", "time per call: busy time / forwards of this level"],
      ["tiles", "tokens of this round, rising from below: filled once accepted, struck through if rejected"],
      ["accepted", "acceptance: tokens from below that the level accepted / that it judged"],
      ["bar below a floor", "its KV cache: filled for committed positions, hatched for tentative ones"],
    ],
  ],
  [
    "The lanes",
    [
      ["block", "a call of a level; its width is measured time; in the gaps the level waits"],
      ["5\u21924", "five tokens went in, four came out; +1: only a bonus token; 3: three drafted"],
      ["red edge", "a token was rejected in this call"],
      ["pale block", "the level reads the prompt (prefill)"],
    ],
  ],
  [
    "Keys",
    [
      ["Ctrl+Enter, Esc", "generate; stop"],
      ["P, Esc", "present to an audience: large text, no prompt; leave"],
      [
        "Space, \u2190 \u2192",
        "on the playback bar, and anywhere while presenting: play or pause; a round back or forward; with Shift, an event",
      ],
      [
        "A",
        "the anatomy of the round under the cursor: \u2190 \u2192 change the event, \u2191 \u2193 the token; a double click on the lanes opens it too",
      ],
      ["\u2190 \u2192 Home End", "in the text: from token to token; Enter pins a token\u2019s card"],
    ],
  ],
];

export const NAME = {
  title: "The name",
  text: "HSD here is hierarchical speculative decoding: a hierarchy of models (Globerson et al. 2025). Another paper (Zhou et al. 2026) calls a verification rule \u201cHSD\u201d; here that is the rule block.",
};

translate("help", { PARTS, NAME });
