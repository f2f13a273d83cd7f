/** The tower: its floors, the shafts between them, the settings of a level, shared layers, what is not allowed. */

import { translate } from "../language.js";
import { many } from "../many.js";

export const TOWER = {
  title: "The tower",
  picture: "tower",
  simulated: "simulated",
  label: "the tower: levels of the stack",
  levels: "levels, the target first",
  readyMade: "ready-made stacks",
  own: "your stack",
  undo: "undo",
  undoTip: "takes back the last change of the stack (Ctrl+Z)",
  other: "The run shown used another stack.",
  runThis: "Press Generate to run this one.",
  madeUp: "Simulated: no model ran. How long a call takes and how often levels agree are a profile\u2019s assumptions.",
  madeUpOther: "Simulated levels; the run shown used another stack of them. The Planner tab plans and plays these.",
};

export const FLOOR = {
  block: "T: the most tokens that this level hands up",
  callTip: "ms per call: busy time / forwards of this level, in this run",
  signs: (/** @type {string} */ note) => `${note} \u00b7 signs each token`,
  inStack: (/** @type {string} */ name) => `${name} in the stack`,
  blockOf: (/** @type {string} */ name) => `T, the block length of ${name}`,
  typed: (/** @type {string} */ name) => `T of ${name}`,
  less: (/** @type {string} */ what) => `${what}: one fewer`,
  more: (/** @type {string} */ what) => `${what}: one more`,
  move: (/** @type {string} */ name, /** @type {number} */ nth, /** @type {number} */ of) =>
    `move ${name}, level ${nth} of ${of}: arrow up or down`,
  moveTip: "drag, or use the arrow keys, to move this level",
  details: (/** @type {string} */ name) => `rule, policy and order of ${name}`,
  up: "up",
  down: "down",
  remove: "remove",
  emptyCache: "cache: nothing yet",
  emptyCacheTip: "cache of this level: nothing yet",
  cache: (/** @type {{known: number, tentative: number, behind: number}} */ x) =>
    `cache of this level: ${x.known} committed, ${x.tentative} tentative positions; ${x.behind} to catch up`,
  tree: (/** @type {string} */ shape, /** @type {boolean} */ again) =>
    `tree ${shape}${again ? " with replacement" : ""}`,
  dynamic: (/** @type {string} */ most, /** @type {boolean} */ again) =>
    `tree of \u2264 ${most}${again ? " with replacement" : ""}`,
  upTo: (/** @type {string} */ most) => `dynamic \u00b7 up to ${most} tokens`,
  lookups: "lookups",
  undrafted: (/** @type {number} */ n) => `its tokenizer differs in ${many(n, "special token")}, never drafted`,
  guesses: (/** @type {number} */ n, /** @type {string} */ letters) => `${n} guesses from ${letters}`,
  databases: (/** @type {string} */ letters) => `databases ${letters}`,
  orElse: (/** @type {string} */ databases, /** @type {string} */ draft) => `${databases}, else ${draft}`,
};

export const SHAFT = {
  kept: "accepted",
  tip: "acceptance: tokens from below that this level accepted / that it judged",
  is: (/** @type {number} */ accepted, /** @type {number} */ judged, /** @type {boolean} */ offered) =>
    `acceptance: ${accepted} accepted / ${judged} judged of the ${offered ? "places with candidates" : "tokens from below"}, in this run`,
};

/** The settings of an exit and a draft. */
export const DEPTH = {
  label: (/** @type {string} */ name, /** @type {number} */ layers) =>
    `depth of ${name}: after how many of ${layers} layers it exits`,
  of: (/** @type {number} */ depth, /** @type {number} */ layers) => `${depth} of ${layers}`,
  said: (/** @type {number} */ depth, /** @type {number} */ layers, /** @type {string} */ how) =>
    `layer ${depth} of ${layers}, ${how}`,
  drag: "drag: the layer after which this exit reads",
  dragTrained: (/** @type {number[]} */ depths) =>
    `drag: the layer after which this exit reads; trained drafts exist at ${depths.join(", ")}`,
  at: "at layer",
  slow: (/** @type {string} */ draft) => `${draft}; verifies one row at a time`,
  whereTrained: "trained draft where there is one",
  lens: "lens: the model's own norm and head",
  own: "the preset's own",
  draftOf: (/** @type {string} */ name) => `draft of ${name}`,
  readTip: "how the hidden states at this depth become probabilities",
  draftTip: "which trained weights this level uses",
  read: "read",
  draft: "draft",
  noMiss: "nothing: the level above continues alone",
  missOf: (/** @type {string} */ name) => `on a miss of ${name}`,
  missTip: "what drafts when no database has a continuation",
  miss: "on a miss",
  byDraft: (/** @type {string} */ name) => `draft ${name}`,
  byLens: "lens: the model's own head",
  trained: "trained draft",
  untrained: "untrained: the model's own head",
};

/** Auto: what a plan makes of a level, and where its profile was measured. */
export const PLAN = {
  out: "not in the plan",
  block: (/** @type {number} */ block) => `T = ${block} in the plan`,
  top: "in the plan, approves every token",
  is: (/** @type {number} */ round, /** @type {string} */ stack, /** @type {string} */ why) =>
    `Auto, from round ${round}: ${stack}${why ? ` (${why})` : ""}.`,
  left: (/** @type {number} */ round, /** @type {string} */ stack, /** @type {string} */ why) =>
    `From round ${round}: ${stack} (${why}).`,
  here: (/** @type {string} */ day) => `Profile measured on the machine of this run${day && ` on ${day}`}.`,
  unknown: "Where the profile was measured is not recorded.",
  elsewhere: (/** @type {{given: boolean, where: string, day: string, machine: string, option: string}} */ x) => {
    const said = `Profile ${x.given ? "given" : "shipped with the program"}, measured${x.where && ` on ${x.where}`}${x.day && `, ${x.day}`}`;
    const alike =
      x.where === x.machine
        ? "another machine of the same description"
        : `not on the machine of this run, ${x.machine}`;
    return `${said}: ${alike}, where passes may cost more or less; python -m hsd_core calibrate ${x.option} measures it.`;
  },
  ofPreset: (/** @type {string} */ preset) => `--preset ${preset}`,
  noProfileOf: (/** @type {string} */ option) =>
    `There is no profile to plan with here; measure one: python -m hsd_core calibrate ${option}`,
  auto: (/** @type {string} */ text) => `Auto. ${text}`,
};

/** Levels that share one model. */
export const TRUNK = {
  embeddings: "reads the token embeddings",
  runs: (/** @type {string} */ layers) => `runs ${layers}`,
  runsNone: "runs no layer of its own",
  reuses: (/** @type {string} */ own, /** @type {string} */ layers) => `${own}, reuses ${layers}`,
  exit: (/** @type {number} */ depth, /** @type {number} */ of) => `exit at layer ${depth} of ${of}`,
  bottom: (/** @type {number} */ of) => `layer 0 of ${of}: the token embeddings`,
  whole: (/** @type {number} */ layers) => `all ${layers} layers`,
  /** A call's layers, the deepest first: "layers 8–29 on 4 rows, 0–7 on 1 (bonus)". */
  ran: (
    /** @type {{layers: string, rows: number, passes: number, bonus: boolean}[]} */ parts,
    /** @type {boolean} */ single,
  ) => {
    const words = parts.map((part, i) => {
      const passes = part.passes > 1 ? ` in ${part.passes} passes` : "";
      return `${part.layers} on ${i ? part.rows : many(part.rows, "row")}${passes}${part.bonus ? " (bonus)" : ""}`;
    });
    return `${single ? "layer" : "layers"} ${words.join(", ")}`;
  },
  /** A level's layers over a run: "8–29 in 24 passes, 0–7 in 24". */
  passes: (/** @type {{layers: string, passes: number}[]} */ parts) =>
    parts.map((part, i) => `${part.layers} in ${i ? part.passes : many(part.passes, "pass", "passes")}`).join(", "),
  layers: (/** @type {number} */ n) => `${n} layers`,
  label: (/** @type {number} */ n, /** @type {string} */ shares) => `One model, ${n} layers: ${shares}.`,
  rows: (/** @type {number} */ round, /** @type {string} */ rows, /** @type {string} */ shares) =>
    `Rows run per layer in round ${round}: ${rows}. At rest: ${shares}.`,
  on: (/** @type {number} */ rows, /** @type {string} */ layers) => `${rows} on ${layers}`,
};

/** What a preset cannot run; what is wrong with a stack's text stands in the grammar. */
export const STACK = {
  noTarget: (/** @type {string} */ id) => `this server does not offer the target ${id}`,
  noLevel: (/** @type {string} */ name) => `there is no level \u201c${name}\u201d over this model`,
  unusable: "cannot be used here",
  cannotDraft: (/** @type {string} */ name) => `${name} cannot draft; it can only be the top level`,
  noExit: (/** @type {string} */ at, /** @type {number} */ min, /** @type {number} */ max) =>
    `layer ${at} is not an exit of this model: set a depth from ${min} to ${max}`,
};

export const ADD = {
  none: "there is no other level over this model",
  title: "add a level",
  more: "More, without a prediction here",
  atFirst: (/** @type {string} */ about, /** @type {number} */ block) => `${about} Starts with T = ${block}.`,
  unusable: "cannot be used here",
  most: (/** @type {number} */ levels) => `a stack has at most ${levels} levels`,
  cannotDraft: "cannot draft; it can only be the roof",
  isBottom: "is already the bottom level",
};

export const KEY = {
  label: "Words of the tower",
};

translate("tower", { TOWER, FLOOR, SHAFT, DEPTH, PLAN, TRUNK, STACK, ADD, KEY });
