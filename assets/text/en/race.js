/** The sentences of the Race tab. */

import { translate } from "../language.js";
import { many } from "../many.js";
import { count, duration, fixed, precise, rounded } from "../numbers.js";

export const WORDS = {
  title: "Race",
  lead:
    "Stacks answer one prompt on one machine, one round each in turn, each on its own clock. The race starts when the " +
    "prompt has been read.",
  choose: "race to replay",
  own: "Your own",
  openFile: "open a race file",
  save: "save this race as a file",
  setUp: "Race your own stacks",
  close: "Close",
  dropHint: "Drop the race file here",
  finish: "finish",
  lanes: "the lanes, on one clock",
  texts: "the texts; a chosen token is marked in all of them",
  playback: "Playback of the lanes",
  token: "Token",
  chooseToken: "Choose a token in a text to see which level supplied it in each lane.",
  shorter: "its text has ended",
  noRaces: "No race comes with this page. Set one up with your own stacks.",
  loading: "Opening the race\u2026",
  onPlay: "Open on Explore",
  onPlayTip: "opens this lane on the Explore tab, with everything each level did",
  saveLane: "download this lane as a trace",
  reference: "the others are compared with it",
  speedUp: (/** @type {string} */ own, /** @type {string} */ first, /** @type {number} */ repeats) =>
    `${own} tokens/s / ${first} of the first lane, ${repeats} repeats together, which also decide the places; the interval is 95 %, paired by repeat`,
  speedUpOnce: (/** @type {string} */ own, /** @type {string} */ first) =>
    `${own} tokens/s / ${first} of the first lane; one repeat gives no interval`,
  noPlace:
    "It has no place: its times are reckoned, each pass run and timed alone and then laid on the clock of its lane, as with a machine for each lane",
  otherClocks: "The two clocks differ, so the ratio is no measurement of one machine",
  rate: "tokens committed up to this moment / time on this lane's own clock since the prompt was read, in the repeat that is replayed",
  repeats: "each repeat's speed-up",
  how: "How it was measured",
  sampled: (/** @type {number} */ t, /** @type {number} */ topP, /** @type {number} */ seed) =>
    `temperature ${t}, top-p ${topP}, seed ${seed}`,
  greedy: "greedy",
  noSuchRace: (/** @type {string} */ name) => `There is no race \u201c${name}\u201d here; another one is shown.`,
  noSuchPair: (/** @type {string} */ pair) =>
    `\u201c${pair}\u201d does not name two recordings of this page; a race is shown.`,
  status: (/** @type {number} */ status) => `status ${status}`,
  notOpened: (/** @type {string} */ why) => `The race could not be opened: ${why}`,
  tooLarge: (/** @type {number} */ mb) => `the file is larger than ${mb} MB; no race is that large`,
  saved: (/** @type {string} */ name) => `The race was saved as ${name}.`,
  prompt: "prompt",
  plain: "plain decoding",
};

export const LANE = {
  nth: (/** @type {number} */ nth) => `lane ${nth}`,
  written: (/** @type {string} */ name) => `${name}: tokens written`,
  unit: " tokens/s",
  took: (/** @type {string} */ time) => `in ${time}`,
  textOf: (/** @type {number} */ nth, /** @type {string} */ name) => `text of lane ${nth}: ${name}`,
  token: (/** @type {string} */ who, /** @type {string} */ said, /** @type {string} */ time) =>
    `${who}: ${said}; after ${time}`,
  clock: (/** @type {number} */ nth, /** @type {number} */ of) => `token ${nth}\u2009/\u2009${of}`,
};

const ORDINALS = ["", "1st", "2nd", "3rd", "4th"];

/** Of a lane, a race and a pair, out of their figures. */
export const SAID = {
  /** @param {number|null} place null on a clock that nobody ran against */
  place: (place) => (place === null ? "\u2013" : (ORDINALS[place] ?? String(place))),
  /** Whose clocks a comparison rests on, if not on the machine's own. @param {(string|undefined)[]} clocks of its lanes */
  clocks: (clocks) => [...new Set(clocks.filter(Boolean))].join(" and "),
  rate: (/** @type {number|null} */ value) => (value === null ? "\u2013" : rounded(value)),
  gain: (/** @type {number} */ value) => `${fixed(value, 2)}\u00d7`,
  /** @param {[number, number]|null} interval */
  interval: (interval) => (interval ? `${fixed(interval[0], 2)} to ${fixed(interval[1], 2)}` : "one repeat"),
  /**
   * How a lane's text compares with the first lane's.
   * @param {Record<string, any>} row
   * @param {boolean} first @param {boolean} sampled @param {string} reference what the first lane is called
   */
  text: (row, first, sampled, reference) => {
    if (first) return sampled ? "a text of its own, drawn at random" : "what the others are compared with";
    if (sampled)
      return row.lossless
        ? "another text with the same distribution: each lane draws at random"
        : "another text, with another distribution than the target's: this stack is lossy";
    const { equal, diverges, margin, tie, target } = row.same;
    if (!diverges) return `identical to ${reference}'s, all ${equal} tokens`;
    const where = `identical up to token ${equal}, then different`;
    if (!target) return `${where}: its target is a different one`;
    if (tie)
      return `${where}: a near tie, with the two best logits ${precise(margin, 2)} apart (products of one row and of many rows differ in their last bits)`;
    const gap = margin === null ? "" : `, where the two best logits are ${precise(margin, 2)} apart`;
    return row.lossless ? `${where}${gap}` : `${where}${gap}: this stack is lossy`;
  },
  /** @param {number} ahead tokens */
  ahead: (ahead) =>
    ahead ? `${many(Math.abs(ahead), "token")} ${ahead > 0 ? "ahead of" : "behind"} lane 1` : "level with lane 1",
  finished: (/** @type {string} */ name, /** @type {number} */ ns) => `${name} finished after ${duration(ns)}.`,
  /** @param {string[][]} places of each lane, with its name */
  places: (places) => `All repeats together: ${places.map(([place, name]) => `${place} ${name}`).join("; ")}.`,
  /**
   * Where, when and how it was measured, in one line.
   * @param {any} race its first line @param {number} repeats @param {boolean} otherOrder the lanes of the repeat that is
   *   replayed do not come in the order of all repeats together
   */
  origin: (race, repeats, otherOrder) => {
    const when = race.recorded ? `raced on ${race.recorded}` : "raced";
    const where = [race.machine, race.threads ? `${race.threads} threads` : "", race.device, race.dtype]
      .filter(Boolean)
      .join(", ");
    return `${when}${where ? ` on ${where}` : ""}; ${repeats === 1 ? "one repeat" : `repeat ${race.shown + 1} of ${repeats} is replayed, the one of median length${otherOrder ? "; its order of lanes differs from that of all repeats together, which decides the places" : ""}`}`;
  },
};

export const LIVE = {
  stacks: "Stacks: two to four; the first is what the others are compared with",
  label: "race your own stacks",
  preset: "preset",
  prompt: "prompt of the race",
  examples: "examples",
  examplesLabel: "example prompts",
  length: "length",
  tokens: (/** @type {number} */ n) => `${n} tokens`,
  repeats: "race",
  times: (/** @type {number} */ n) => (n === 1 ? "once" : `${n} times`),
  seed: "seed",
  temperature: "temperature",
  noPreset: (/** @type {string} */ reason) => `Nothing can be raced here: ${reason || "no preset can be used"}.`,
  asking: "asking for a place in line",
  plainNote: "one token per forward",
  own: "The preset's own",
  ownNote: "what Generate runs by default",
  fromPlayNote: "as composed there now",
  tooFew: "Choose at least two stacks.",
  tooMany: (/** @type {number} */ most) => `A race has at most ${most} stacks; take one out first.`,
  noPrompt: "The prompt is empty: write something or choose an example.",
  fromPlay: "The one on Explore",
  plainTitle: "Plain decoding",
  go: "Start the race",
  stop: "Stop",
  stopping: "Stopping\u2026",
  asked: "The race was requested.",
  stoppedEarly: "Stopped before it began.",
  unreachable: "The server cannot be reached; nothing was raced.",
  note: (/** @type {number} */ longest) =>
    `Each repeat runs all lanes, one round each in turn. The race waits in line like any run, and takes at most ${Math.round(longest / 60)} minutes.`,
  fetched: (/** @type {number} */ mb) => `The weights are fetched first: ${mb} MB.`,
};

export const COMPARE = {
  open: "Compare two runs",
  races: "recorded races",
  letters: ["A", "B"],
  run: (/** @type {string} */ letter) => `run ${letter}`,
  align: "alignment",
  byToken: "token by token",
  byTime: "by time",
  overPlain: (/** @type {string} */ clock) => (clock ? `over its own plain run, ${clock}` : "over its own plain run"),
  noPlain: "plain decoding was not measured",
  gainTip:
    "tokens/s of the run / tokens/s of plain decoding, measured beside it; two recordings may be from different days",
  otherPrompts: "They answer different prompts: compare the times, not the words.",
  differ: "other levels",
  differWords: (/** @type {number} */ n, /** @type {number} */ of) =>
    `${n} of ${of} tokens came from a level of another kind`,
  text: (
    /** @type {{equal: number, least: number, most: number, samePrompt: boolean}} */ found,
    /** @type {number} */ index,
  ) => {
    if (index === 0) return "";
    if (!found.samePrompt) return "another prompt";
    if (found.equal < found.least) return `the same as A's up to token ${found.equal}, then different`;
    return found.least === found.most
      ? `the same as A's, all ${found.least} tokens`
      : `the same as A's for as long as both go on, ${found.least} tokens`;
  },
};

/** Of many requests at once. */
export const LOAD = {
  open: "Many requests at once",
  lead:
    "A server answers many at once: one pass reads the weights for all of them, and rows become dear. Plain decoding and " +
    "a stack answer the same requests, one batch after the other. The clock starts when all prompts have been read.",
  key:
    "A lane is a request, a block one of its passes: as wide as the pass took, the higher the more rows it had of this " +
    "request, in the colour of its level. Tokens/s are counted up to the grey line, where the first text ends. Press a lane to read its text.",
  loads: "requests at once",
  request: "text of request",
  stack: "stack",
  go: "Run it here",
  none: (/** @type {number} */ n) =>
    `No recording of ${many(n, "request")} at once comes with this page. “Run it here” decodes them now.`,
  unit: " tokens/s in sum",
  rateTip:
    "tokens of all texts up to this moment, at most to the end of the first text / time since the last prompt was read",
  tokens: (/** @type {number} */ n) => `${count(n)} tokens`,
  gain: (/** @type {string} */ gain) => `${gain} plain decoding`,
  /** @param {string} name of the stack @param {string[]} passes of each level */
  picture: (name, passes) => `${name}: a lane for each request. ${passes.join("; ")}.`,
  passes: (/** @type {string} */ level, /** @type {number} */ n, /** @type {string} */ rows) =>
    `${level}: ${many(n, "pass", "passes")} of ${rows} rows on average`,
  /** @param {number} load @param {string[]} rates tokens/s in sum: plain decoding's, the stack's @param {string} gain */
  result: (load, [plain, own], gain) =>
    `${many(load, "request")} at once: ${plain} tokens/s in sum by plain decoding, ${own} by the stack, ${gain}.`,
  same: (/** @type {number} */ equal, /** @type {number} */ of) =>
    equal === of
      ? `the same as plain decoding's, all ${of} tokens`
      : `the same as plain decoding's up to token ${equal}, then different`,
  table: "The passes as a table",
  columns: ["level", "passes", "ms each", "rows each", "requests in each"],
  /** @param {{recorded: string, machine: string, threads: number, device: string, dtype: string, max_new_tokens: number}} head
   *  @param {number} nth repeat that is shown @param {string[]} gains of all repeats */
  origin: (head, nth, gains) => {
    const where = [head.machine, head.threads ? `${head.threads} threads` : "", head.device, head.dtype];
    const which =
      gains.length > 1
        ? `; repeat ${nth} of ${gains.length} is replayed, the one of median speed-up (${gains.join(", ")})`
        : "";
    return `Measured on ${head.recorded} on ${where.filter(Boolean).join(", ")}: greedy, at most ${head.max_new_tokens} tokens each${which}.`;
  },
};

translate("race", { WORDS, LANE, SAID, LIVE, COMPARE, LOAD });
