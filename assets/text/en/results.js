/** The Results tab. */

import { translate } from "../language.js";

/** Runs the quick set, and what becomes of it. */
export const QUICK = {
  title: "Run the quick set here",
  label: "run the quick set here",
  lead: (/** @type {number} */ prompts, /** @type {number} */ tokens, /** @type {number} */ minutes) =>
    `${prompts} prompts of six tasks, ${tokens} tokens each, through the preset's default stack, its best stack of two levels and plain decoding, side by side on this server. It takes a few minutes, with at most ${minutes} minutes of measuring. ${prompts} prompts are few, so the interval is wide.`,
  preset: "preset to measure",
  measured: "prompts measured",
  go: "Run the quick set",
  stop: "Stop",
  stopping: "Stopping\u2026",
  asking: "asking for a place in line",
  asked: "The quick set was requested.",
  stoppedEarly: "Stopped before it began.",
  unreachable: "The server cannot be reached; nothing was measured.",
  now: "this server, now",
  found: (
    /** @type {string} */ said,
    /** @type {{stack: string, gain: string, low: string, high: string, column: string}} */ x,
  ) =>
    `${said} ${x.stack}: ${x.gain}\u00d7 plain decoding (${x.low} to ${x.high}). The column "${x.column}" is in the preset\u2019s table.`,
  show: "Show it",
  left: (/** @type {string} */ said, /** @type {string} */ time) => `${said}, about ${time} left`,
  seconds: (/** @type {number} */ n) => `${n} s`,
  minutes: (/** @type {number} */ n) => `${n} min`,
  fetched: (/** @type {number} */ mb) => `Its weights are fetched first: ${mb} MB.`,
  noPreset: (/** @type {string} */ reason) => `Nothing can be measured here: ${reason || "no preset can be used"}.`,
};

export const RESULTS = {
  title: "Results",
  lead: "What was measured. Only decoding is timed, not reading the prompt.",
  pick: "model and machine",
  /** By the name of the file of stacks that was measured. @type {Record<string, string>} */
  subjects: {
    atlas: "stacks of the Atlas",
    best: "the best stacks",
    drafts: "trained drafts",
    hispec: "HiSpec\u2019s figure 1",
    databases: "Hierarchy Drafting\u2019s databases",
    easyspec: "EasySpec\u2019s grouped layers",
    family: "one family, level by level",
    lanes: "levels at the same time",
    lessons: "stacks of the lessons",
    lossy: "what is given up",
    masked: "blocks of blanks",
  },
  option: (/** @type {string} */ subject, /** @type {string} */ machine, /** @type {number} */ prompts) =>
    `${subject && `${subject}: `}${machine}, ${prompts} prompts`,
  missing: (/** @type {string} */ what) => `${what}: not measured`,
  unreachable: "The server could not send the bundled results; open this tab again to retry.",
  tasks: (/** @type {string} */ preset, /** @type {string} */ machine) => `${preset}: speed-up by task, ${machine}`,
  none: "Not measured yet",
  noneText:
    "No benchmark of this preset comes with the page. The command below makes one; its folder then appears here. Or run the quick set.",
  byTask: "By task",
  drawn: "Speed-up where tokens are drawn, by temperature",
  byTaskAbout: "what each stack gains on each kind of prompt",
  all: "All figures",
  allAbout: "these stacks and programs, beside the other machines that ran them",
  origin: "How it was measured",
  originAbout: "machines, versions, commands, files to download",
  here: "Measure this server",
  hereAbout: "the quick set, a few minutes",
};

/** @type {(n: number) => string} a number of levels */
const levels = (n) =>
  `${["no", "one", "two", "three", "four", "five", "six", "seven", "eight"][n] ?? n} level${n === 1 ? "" : "s"}`;
const first = (/** @type {string} */ text) => `${text[0].toUpperCase()}${text.slice(1)}`;

/** @typedef {{gain: string, low: string, high: string}} Gain speed-up with its 95 % interval */

/** What the chosen benchmark says. */
export const CLAIM = {
  label: "what was found",
  headline: (/** @type {Gain & {levels: number}} */ x, /** @type {{levels: number, gain: string}[]} */ others) =>
    `${first(levels(x.levels))}: ${x.gain} times as fast as the model alone (${x.low} to ${x.high})${others.map((one) => `; ${levels(one.levels)}: ${one.gain}`).join("")}.`,
  noGain: (/** @type {Gain & {levels: number}} */ x) =>
    `No stack is faster than the model alone here; the best has ${levels(x.levels)}: ${x.gain} times (${x.low} to ${x.high}).`,
  ofChosen: (/** @type {Gain} */ x) =>
    `The best of these stacks is ${x.gain} times as fast as the model alone (${x.low} to ${x.high}).`,
  chosen: "They were chosen, as for the lessons: this model\u2019s default stack was not among them.",
  none: "Every stack and program, beside plain decoding.",
  sure: (/** @type {number} */ more, /** @type {number} */ fewer, /** @type {Gain} */ x) =>
    `${first(levels(more))} are faster than ${levels(fewer)} on the same prompts: ${x.gain} times (${x.low} to ${x.high}).`,
  unsure: (
    /** @type {number} */ more,
    /** @type {number} */ fewer,
    /** @type {Gain} */ x,
    /** @type {number} */ prompts,
  ) =>
    `${first(levels(more))} beside ${levels(fewer)} on the same prompts: ${x.gain} times (${x.low} to ${x.high}). With ${prompts} prompts that may be chance.`,
  why: (
    /** @type {string} */ stack,
    /** @type {string} */ passes,
    /** @type {string} */ tokens,
    /** @type {string} */ dtype,
  ) =>
    `Why: one round of \u201c${stack}\u201d takes as long as ${passes} passes of the ${dtype} model alone, and yields ${tokens} tokens.`,
  lose: (/** @type {string} */ stack) => `\u201c${stack}\u201d loses`,
  loses: (
    /** @type {string} */ who,
    /** @type {Gain} */ x,
    /** @type {string} */ passes,
    /** @type {string} */ tokens,
  ) =>
    `${who} here: ${x.gain} (${x.low} to ${x.high}), because a round takes as long as ${passes} passes and yields ${tokens} tokens.`,
  noneLoses: "No stack loses here. ",
  elsewhere: (/** @type {string} */ who, /** @type {string} */ gain, /** @type {string} */ machine) =>
    `${machine}: ${who}, ${gain}`,
  facts: (
    /** @type {string} */ machine,
    /** @type {number} */ prompts,
    /** @type {number} */ tokens,
    /** @type {string} */ day,
  ) =>
    `${machine}, ${prompts} prompts of up to ${tokens} tokens, ${day}. In parentheses: 95 % intervals, a bootstrap over prompts.`,
  lacking: (/** @type {string[]} */ machines) => `On ${machines.join(" and on ")}: not measured.`,
};

/** The chart. */
export const BARS = {
  title: "Speed-up over plain decoding of the same target",
  text: "A bar is the speed-up, its whisker the 95 % interval, the line at 1 plain decoding.",
  label: (/** @type {string} */ preset, /** @type {string} */ machine) =>
    `${preset} on ${machine}: speed-ups by target`,
  columns: ["stack", "", "speed-up", "tokens/s", "tokens a pass", "same text?"],
  target: (/** @type {string} */ dtype) => `Target in ${dtype}`,
  over: (/** @type {string} */ dtype) => `Gains are over plain ${dtype} decoding, whose text each has to write.`,
  another: (/** @type {string} */ dtype, /** @type {string} */ own) =>
    `Another model, by itself: gains are over plain ${dtype} decoding, whose text need not be that of ${own}.`,
  others: "Programs that write another text",
  other: (/** @type {string} */ dtype) =>
    `They read other weights: the rate is beside our plain ${dtype} decoding, the text is not.`,
  interval: (/** @type {string} */ low, /** @type {string} */ high) => `${low} to ${high}`,
  itself: (/** @type {string} */ dtype) => `plain ${dtype}`,
  same: (/** @type {string} */ dtype) => `yes, ${dtype}\u2019s`,
  some: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ dtype) =>
    `${n} of ${of}, ${dtype}\u2019s`,
  lossy: (/** @type {string} */ same, /** @type {string} */ share) => `${same}; ${share} not its own`,
  differs: (/** @type {number} */ percent) => `no, the first ${percent} %`,
  drawn: "sampled",
  notRun: (/** @type {string} */ why) => `Not run: ${why}.`,
};

/** Other programs, by the names that benchmarks give them. @type {Record<string, string>} */
export const PEERS = {
  "transformers plain": "Hugging Face\u2019s generate() on the same float32 weights, one token a pass.",
  "transformers lookup": "generate() that copies its drafts from the text so far (prompt lookup).",
  "transformers assisted": "generate() with a smaller draft model (assisted generation).",
  "llama.cpp plain": "llama.cpp on a GGUF file of the model, whose weights may have fewer bits.",
  "llama.cpp lookup": "llama.cpp on that file with drafts copied from the text so far.",
};

export const TABLE = {
  /** @type {[string, string][]} a column's name and what it holds */
  figures: [
    ["tokens/s", "tokens written per second of decoding, over all prompts"],
    ["speed-up", "tokens/s / plain decoding's with the same target, with its 95 % interval"],
    ["per pass", "tokens committed per pass of the target, correction and bonus included"],
    ["same text?", "whether every text is plain decoding's of the same target; sampled tokens are not compared"],
  ],
  caption: "stacks and other programs by machine, fastest first",
  label: "table of all stacks and machines",
  stack: "stack",
  others: "other programs",
  prompts: (/** @type {number} */ n) => `${n} prompts`,
  few: "few prompts: the interval is wide",
  openTip: "opens the Explore tab with this stack",
  open: " open in Explore",
  usual: "default",
  plain: "plain",
  interval: (/** @type {string} */ low, /** @type {string} */ high) => `${low} to ${high}`,
  notInSet: "not part of the quick set",
  notRun: "not run",
  peer: (/** @type {string} */ gain, /** @type {number} */ same, /** @type {string} */ why) =>
    `${gain}\u00d7 our plain \u00b7 ${same} % same tokens${why ? ` \u00b7 ${why}` : ""}`,
  notMeasured: "not measured",
};

/** How each benchmark was made. */
export const ORIGIN = {
  machine: "machine",
  here: (/** @type {string} */ machine) => `${machine} (this server)`,
  measured: "measured",
  threads: "threads",
  prompts: "prompts",
  promptsAre: (/** @type {number} */ n, /** @type {string} */ set, /** @type {number} */ tokens) =>
    `${n} of ${set}, up to ${tokens} tokens each`,
  versions: "versions",
  memory: "peak memory",
  memoryIs: (/** @type {number} */ mb) => `${mb} MB`,
  how: (
    /** @type {string} */ preset,
    /** @type {string} */ column,
    /** @type {string} */ when,
    /** @type {number} */ prompts,
  ) => `${preset}: how ${column} was measured on ${when}, with ${prompts} prompts`,
  missing: (/** @type {string} */ what) => `${what}: not measured`,
  asked: (/** @type {string} */ date) => `Last asked for on ${date}: none was available.`,
  make: "Not measured. On such a machine this command makes its benchmark:",
  copy: "Copy",
  copied: "Copied",
  notCopied: "Not copied: select it",
  copyOf: (/** @type {string} */ whose) => `copy the command of ${whose}`,
  download: (/** @type {string} */ kind, /** @type {string} */ column) => `download results.${kind} of ${column}`,
};

export const PLOTS = {
  tasks: (/** @type {string} */ machine) => `Speed-up by task: ${machine}`,
  tasksText: "Speed-up over plain decoding of the same target; green gains, orange loses.",
  paper: (/** @type {string} */ paper) => `Reported: ${paper}`,
  paperText: (/** @type {string} */ on) => `Not measured here: on ${on}.`,
  drawnText: "The warmer, the fewer tokens are found in the text: lookups gain least at temperature 1.",
  drawnPaper: (/** @type {string} */ on) => `Rows marked as reported were not measured here: on ${on}.`,
  tasksFew: " Two prompts per task: only a hint.",
  /** Plotly's own template: what stands in %{} is filled in by it. */
  tasksHover: "%{customdata}<br>%{x}: %{text} plain decoding<extra></extra>",
  stack: "stack",
  code: "as written",
};

/** Speed beside what is given up for it. */
export const LOST = {
  disclosure: "What is given up",
  about: "speed of stacks that are not exact, beside what their text loses",
  title: (/** @type {string} */ machine, /** @type {string} */ of) => `Speed-up over ${of}: ${machine}`,
  text: "Diamonds are stacks that are not exact. Exact ones stand on the line where nothing is lost: their text is the target\u2019s own. Read by the target afterwards, by itself.",
  exact: "exact",
  lossy: "not exact",
  gain: "speed-up",
  spared: {
    of: "tokens that are not the target\u2019s own choice",
    axis: "% of the tokens not the target\u2019s own choice",
  },
  surprise: { of: "the target\u2019s surprise", axis: "mean surprise of the target, nats a token" },
  stack: "stack",
  code: "as written",
  same: "that of plain decoding",
  nothing: "nothing is lost",
  said: (/** @type {string} */ share, /** @type {string} */ nats) =>
    `${share} not the target\u2019s own; surprise ${nats} nats`,
  /** Plotly's own template: what stands in %{} is filled in by it. */
  hover: "%{customdata}<br>%{y:.2f}\u00d7 plain decoding<extra></extra>",
};

translate("results", { LOST, QUICK, RESULTS, CLAIM, BARS, PEERS, TABLE, ORIGIN, PLOTS });
