/** The glossary: each word of the field that the page uses, in two sentences and a picture. Lessons, cards and the core's
 *  README say the same (tests/js/glossary.test.mjs compares).
 *
 *  A picture is one of: `rows` of tokens, each after its level's letter (`~` struck out, `?` not committed yet, `+` the
 *  level's own, `.` accepted), the target's on top; `bars`, `token:probability`; `floors` of a tower, one of them marked;
 *  `calls` on one clock, `level:from-to`; `cells` of a cache: committed, tentative; `layers`: an exit's depth, of how many. */

import { translate } from "../language.js";

/**
 * @typedef {{rows?: string[], bars?: string, other?: string, floors?: string, lit?: string,
 *   calls?: string, cells?: [number, number], layers?: [number, number]}} Picture
 * @typedef {{word: string, forms?: string[], says: [string, string], picture: Picture, see?: [string, string]}} Entry forms:
 *   other forms of it in a text; see: a recording that shows it, and what the link says
 */

export const GLOSSARY_SAY = {
  close: "Close the definition",
  what: (/** @type {string} */ word) => `${word}: what it is`,
};

/** @type {Record<string, Entry>} */
export const GLOSSARY = {
  token: {
    word: "token",
    forms: ["tokens"],
    says: [
      "The unit in which a model reads and writes: a word, a part of one, or a sign.",
      "Each coloured piece of the text is one token.",
    ],
    picture: { rows: ["T The cat sat down"] },
  },
  stack: {
    word: "stack",
    forms: ["stacks"],
    says: [
      "Levels in order of cost, each checking the one before it; the last is the target.",
      "The page draws it as a tower, the cheapest level on the ground floor.",
    ],
    picture: { floors: "NQT" },
  },
  level: {
    word: "level",
    forms: ["levels"],
    says: [
      "A model, a cheaper copy of it, or a lookup that proposes tokens and checks those from below.",
      "A level in the middle helps when it catches wrong guesses for less time than the target would need.",
    ],
    picture: { floors: "NQT", lit: "Q" },
  },
  target: {
    word: "target",
    forms: ["targets"],
    says: [
      "The model whose text is wanted; it is the top level of the stack.",
      "In an exact stack the levels below it change the speed of the text, never what it says.",
    ],
    picture: { floors: "NQT", lit: "T" },
  },
  draft: {
    word: "draft",
    forms: ["drafts", "drafted", "drafting"],
    says: [
      "To guess the next tokens cheaply, before a larger level has seen them; also the guesses themselves.",
      "In an exact stack a wrong draft costs time, never a wrong text.",
    ],
    picture: { rows: ["T The cat", "N _ _ ?sat ?on ?the"] },
  },
  verify: {
    word: "verify",
    forms: ["verifies", "verified", "verifier", "verifiers"],
    says: [
      "To check drafted tokens in one pass that reads them all at once.",
      "The level that does so keeps them up to the first that it rejects.",
    ],
    picture: { rows: ["T .sat .on ~the", "N sat on the"] },
  },
  pass: {
    word: "pass",
    forms: ["passes", "forward pass"],
    says: [
      "One run of a model over some tokens, which reads all of its weights once.",
      "Reading them takes most of the time, so checking five tokens costs little more than writing one.",
    ],
    picture: { calls: "T:0-5 N:5-5.4 N:5.6-6 T:6.2-11.6" },
  },
  accept: {
    word: "accept",
    forms: ["accepts", "accepted", "acceptance"],
    says: [
      "A level accepts a drafted token that it would have written too; in sampled text a coin decides, weighted by p/q.",
      "The token then goes one level up; a dot above it stands for each level that accepted it before the target.",
    ],
    picture: { rows: ["Q .sat .on ~a", "N sat on a"] },
  },
  reject: {
    word: "reject",
    forms: ["rejects", "rejected", "rejection", "rejections"],
    says: [
      "A level rejects a drafted token that it would not have written, and with it everything guessed behind it.",
      "Rejected drafts stay in the text struck through, with the letter of the level that caught them.",
    ],
    picture: { rows: ["Q .sat ~in ~a", "N sat in a"] },
  },
  correction: {
    word: "correction",
    forms: ["corrections"],
    says: [
      "The token that a verifier writes in the place of the one it rejected.",
      "It costs no further pass: the pass that found the error has already computed it.",
    ],
    picture: { rows: ["T .sat +on", "N sat ~in"] },
  },
  bonus: {
    word: "bonus",
    forms: ["bonus token", "bonus tokens"],
    says: [
      "The token that a verifier adds when it has accepted everything it was given.",
      "Its pass has computed what comes behind the last draft anyway.",
    ],
    picture: { rows: ["T .sat .on +the", "N sat on"] },
  },
  round: {
    word: "round",
    forms: ["rounds"],
    says: [
      "One verification by the target and all the work that led to it.",
      "It adds at least one token to the text: a correction or a bonus.",
    ],
    picture: { calls: "N:0-0.4 Q:0.5-2.5 N:2.6-3 Q:3.1-5.1 T:5.2-10.6" },
  },
  row: {
    word: "row",
    forms: ["rows"],
    says: [
      "One input of a pass and what is read behind it: a distribution over the token that comes next.",
      "Checking four drafts takes five rows: one behind each of them, and one before the first.",
    ],
    picture: { rows: ["T .sat .on .the .mat +.", "Q sat on the mat"] },
  },
  distribution: {
    word: "distribution",
    forms: ["distributions"],
    says: [
      "Probabilities for every token that could come next; together they are 1.",
      "q stands for the distribution of the level that drafted, p for that of the level that checks.",
    ],
    picture: { bars: "on:0.6 in:0.3 by:0.1" },
  },
  temperature: {
    word: "temperature",
    says: [
      "How much chance there is in the choice of a token: at 0 the most likely one is always taken (greedy).",
      "At 1 it is drawn from the model\u2019s own distribution; the lower the temperature, the more the likely tokens win.",
    ],
    picture: { bars: "on:0.6 in:0.3 by:0.1", other: "on:0.88 in:0.11 by:0.01" },
  },
  exact: {
    word: "exact",
    says: [
      "The text is what the target alone would have written: the same tokens if greedy, the same distribution if sampled.",
      "It is so because every draft needs the target\u2019s approval; \u201cproof\u201d shows it for this run.",
    ],
    picture: { rows: ["T The cat sat down", "T .The .cat .sat +down", "N _ cat sat ~up"] },
  },
  lossy: {
    word: "lossy",
    says: [
      "With this rule a level may keep drafts that the target alone would not have written.",
      "That can be faster, but the text may differ; the page says so wherever such a stack is shown.",
    ],
    picture: { rows: ["T The cat sat down", "T .The .cat .lay .down", "N _ cat lay down"] },
  },
  speedup: {
    word: "speed-up",
    forms: ["speed-ups", "speedup"],
    says: [
      "Tokens per second against those of the target alone, with the same prompt on the same machine.",
      "Below 1\u00d7 the stack loses: too few drafts are accepted, or making them costs more than they save.",
    ],
    picture: { calls: "T:0-3.2 T:3.4-6.6 T:6.8-10 T:10.2-13.4 N:15-15.3 Q:15.4-16.9 T:17-20.4" },
    see: ["?recording=08-loses", "A run that loses"],
  },
  block: {
    word: "block length",
    forms: ["block lengths"],
    says: [
      "The most tokens that a level hands up at once: T on its floor.",
      "A longer block saves passes while its drafts are accepted; what stands behind the first wrong one is wasted.",
    ],
    picture: { rows: ["T .sat .on ~a", "N sat on a rug"] },
  },
  policy: {
    word: "stop policy",
    forms: ["stop policies"],
    says: [
      "Decides when a level hands up before its block is full, for example where its drafts become uncertain.",
      "It saves work that would probably be wasted.",
    ],
    picture: { rows: ["Q .sat .on", "N sat on _ _"] },
  },
  waste: {
    word: "waste",
    forms: ["wasted"],
    says: [
      "Drafted tokens that never reach the text: rejected, or lost behind a rejected one.",
      "The time that they took is part of every speed-up shown here.",
    ],
    picture: { rows: ["T .sat ~in", "N sat in ~a ~box"] },
  },
  cache: {
    word: "KV cache",
    forms: ["KV caches"],
    says: [
      "Keys and values that a model keeps of the tokens it has read, so that no pass reads them again.",
      "On a floor its bar is filled for tokens of the text and hatched for drafts, which may have to be cut off.",
    ],
    picture: { cells: [8, 3] },
  },
  prefill: {
    word: "prefill",
    says: [
      "The pass in which a level reads the prompt, before the first token is written.",
      "It is shown on the clock and left out of the speed-up.",
    ],
    picture: { calls: "T:0-7 Q:0-4 N:7.4-7.7 Q:7.8-9 T:9.1-12" },
  },
  exit: {
    word: "early exit",
    forms: ["early exits"],
    says: [
      "A level that runs only the first layers of the target and reads the next token there.",
      "It shares the target\u2019s weights, and the target goes on from what it has computed.",
    ],
    picture: { layers: [3, 8] },
  },
  lookup: {
    word: "lookup",
    forms: ["lookups"],
    says: [
      "A level without a model: it finds where the last tokens stood before and copies what came next there.",
      "It costs next to nothing and is often right where a text repeats itself.",
    ],
    picture: { rows: ["T the cat sat . the cat", "N _ _ _ _ _ _ ?sat"] },
  },
  copy: {
    word: "quantised copy",
    forms: ["8-bit copy", "4-bit copy", "quantised copies"],
    says: [
      "The same model with its weights rounded to 8 or 4 bits.",
      "A pass of it reads less memory, and most of its tokens are those of the original.",
    ],
    picture: { calls: "Q:0-2 Q:2.2-4.2 Q:4.4-6.4 T:6.6-12" },
  },
  model: {
    word: "draft model",
    forms: ["draft models"],
    says: [
      "A smaller model that was trained on the same kind of text and guesses for the larger one.",
      "It must use the same tokens as the target.",
    ],
    picture: { floors: "DT", lit: "D" },
  },
  tree: {
    word: "tree",
    forms: ["trees"],
    says: [
      "What one level hands to the next: tokens, each behind its parent.",
      "Where nothing branches it is a chain, the plain case.",
    ],
    picture: { rows: ["T .sat .on", "D sat on", "D ~lay ~in"] },
  },
  candidate: {
    word: "candidate",
    forms: ["candidates"],
    says: [
      "One of several tokens that are offered for the same place.",
      "One pass judges them all, and at most one is kept.",
    ],
    picture: { rows: ["T +sat", "D sat", "D ~lay", "D ~ran"] },
  },
  rule: {
    word: "rule",
    forms: ["rules"],
    says: [
      "Decides which of the drafted tokens a level keeps.",
      "Exact rules keep the target\u2019s own distribution; the others are marked as lossy.",
    ],
    picture: { bars: "on:0.6 in:0.3", other: "on:0.4 in:0.5" },
  },
  plan: {
    word: "plan",
    forms: ["plans"],
    says: [
      "Which levels run, and with which block lengths.",
      "Auto makes a new one between rounds, from measured costs and what was accepted so far.",
    ],
    picture: { floors: "NQT" },
  },
  probe: {
    word: "probe",
    forms: ["probes"],
    says: [
      "A row in a pass beside the drafts that nobody judges.",
      "What is read there goes back to the level that drafts (lookahead).",
    ],
    picture: { rows: ["T .sat .on ?mat", "N sat on"] },
  },
  context: {
    word: "context",
    says: [
      "What a model reads before it writes: the prompt and the text so far.",
      "Drafts belong to it only while they wait for their verdict.",
    ],
    picture: { rows: ["T The cat sat ?on ?the"] },
  },
  reckoned: {
    word: "reckoned",
    forms: ["reckoned clock"],
    says: [
      "Each pass was run and timed alone, then laid on the clock of its lane, as if each lane were a machine of its own.",
      "Tokens, rows and the time of each pass are real; only that passes overlap is arithmetic.",
    ],
    picture: { calls: "T:0-5 Q:0-6 T:6.2-11.4 Q:6.2-12.2 T:12.4-17.2 Q:12.4-18.4" },
    see: ["?recording=28-copy-pearl", "A run on two clocks"],
  },
};

translate("glossary", { GLOSSARY_SAY, GLOSSARY });
