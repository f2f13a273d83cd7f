/** The help: how to read every part of the page, its keys, and whose name it bears. */

/** @type {[string, [string, string][]][]} */
export const PARTS = [
  [
    "The text",
    [
      ["colour, letter, underline", "the level that supplied the token; \u201ccolour by\u201d asks another question"],
      ["dot above", "a level below the target judged the token and let it pass, one dot for each"],
      ["outline, no fill", "not committed yet: a level above may still reject it"],
      ["struck through, xQ", "a draft that level Q rejected, where it stood; struck in the colour of Q"],
      ["\u21b5, \u25cc", "a line break; a token that holds a part of a character only"],
      ["+2", "two more rejected drafts at this place, or tokens lost behind one: press it to see them"],
    ],
  ],
  [
    "The caption",
    [
      ["Round 5: \u2026", "what the moment that is shown is about; every figure is of the trace"],
      ["p 0.61 against 0.02", "what the verifier gave its own choice, and the rejected token"],
      ["pause at \u2715", "the replay rests at each rejection for as long as it takes to read about it"],
    ],
  ],
  [
    "The tower",
    [
      ["T", "tokens that a level hands up at most"],
      ["ms", "what a call takes: busy time / forwards of this level"],
      ["tiles", "tokens of this round that rise from below: filled once accepted, struck through if rejected"],
      ["a", "acceptance: tokens from below that the level accepted / that it judged"],
      ["bar below a floor", "its KV cache: filled for committed positions, hatched for tentative ones"],
    ],
  ],
  [
    "The lanes",
    [
      ["block", "a call of a level; its width is measured time, and where nothing is drawn the level waits"],
      ["5\u21924", "five tokens went in, four came out; +1: a bonus token and nothing else; 3: drafted"],
      ["red edge", "a token was rejected in this call"],
      ["pale block", "the level reads the prompt (prefill)"],
    ],
  ],
  [
    "Keys",
    [
      ["Ctrl+Enter, Esc", "generate; stop"],
      ["P, Esc", "present to a room: large text, no prompt; leave it"],
      [
        "Space, \u2190 \u2192",
        "on the playback bar, and anywhere while presenting: play or pause; a round back or on; with Shift an event",
      ],
      [
        "A",
        "the anatomy of the round under the cursor: \u2190 \u2192 an event, \u2191 \u2193 another token; a double click on the lanes opens it too",
      ],
      ["D", "the databases of lookups: who answered, what was found where, what is kept; \u2190 \u2192 an event"],
      ["\u2190 \u2192 Home End", "in the text: from token to token; Enter pins a token\u2019s card"],
    ],
  ],
];
export const NAME =
  "HSD here is hierarchical speculative decoding: a hierarchy of models (Globerson et al. 2025). Another paper (Zhou et al. 2026) calls a verification rule \u201cHSD\u201d; here that is the rule block.";
export const NAME_TITLE = "The name";
