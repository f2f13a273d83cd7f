/** The Results tab. */

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
  noPreset: "No preset can be used here, so nothing can be measured.",
};

export const RESULTS = {
  title: "Results",
  lead: "How long stacks really took, beside plain decoding and other programs on the same machine. Only decoding is timed, not reading the prompt. Intervals are 95 %, a bootstrap over prompts.",
  unreachable: "The server could not send the bundled results; open this tab again to retry.",
  rates: (/** @type {string} */ preset) => `${preset}: tokens per second`,
  tasks: (/** @type {string} */ preset, /** @type {string} */ machine) => `${preset}: speed-up by task, ${machine}`,
  none: "Not measured yet",
  noneText:
    "No benchmark of this preset comes with the page. The commands below make one; its folder then appears here. Or run the quick set above.",
};

export const TABLE = {
  /** @type {[string, string][]} a column's name and what it holds */
  figures: [
    ["tokens/s", "tokens written per second of decoding, over all prompts"],
    ["speed-up", "tokens/s / plain decoding's with the same target, with its 95 % interval"],
    ["per pass", "tokens committed per pass of the target, correction and bonus included"],
    ["equal", "share of prompts whose text equals plain decoding's; sampled tokens are not compared"],
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
  drawn: "sampled",
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
  how: (/** @type {string} */ preset, /** @type {string} */ column) => `${preset}: how ${column} was measured`,
  missing: (/** @type {string} */ what) => `${what}: not measured`,
  make: "Not measured. On such a machine this command makes its benchmark:",
  copy: "Copy",
  copied: "Copied",
  notCopied: "Not copied: select it",
  copyOf: (/** @type {string} */ whose) => `copy the command of ${whose}`,
  download: (/** @type {string} */ kind, /** @type {string} */ column) => `download results.${kind} of ${column}`,
};

export const PLOTS = {
  rates: "Tokens per second",
  ratesAxis: "tokens per second",
  ratesText: "Whiskers: the 95 % interval of the speed-up, times plain decoding\u2019s rate in the same measurement. ",
  paler: "Other programs are paler.",
  /** Plotly's own templates: what stands in %{} is filled in by it. */
  ratesHover: "%{customdata}<br>%{x:.1f} tokens per second<extra></extra>",
  tasks: (/** @type {string} */ machine) => `Speed-up by task: ${machine}`,
  tasksText: "Speed-up over plain decoding of the same target; green gains, orange loses.",
  tasksFew: " Two prompts per task: only a hint.",
  tasksHover: "%{y}<br>%{x}: %{text} plain decoding<extra></extra>",
  stack: "stack",
};
