/** The doctor, a view of the Planner: why is another engine's speculation slow? What it finds is said by the server. */

import { translate } from "../language.js";
import { many } from "../many.js";

export const DOCTOR = {
  view: "Doctor",
  title: "Doctor",
  tagline: "Why is my speculative decoding slow, and what should I change?",
  lead: "Give what your engine printed, as it is: metrics, replies, a log, a table, with your own words around it. Two scrapes of one server count what happened between them; a run without speculation beside one with it gives the plain time.",
  privacy:
    "The text goes to this server\u2019s Planner process alone, which reads at most 2 MB for at most 20 seconds and keeps nothing.",
  paste: "what the engine printed",
  placeholder: "Paste /metrics, a reply in JSON, or log lines; or drop files here.",
  open: "Open files",
  file: "outputs of an engine",
  remove: (/** @type {string} */ name) => `remove ${name}`,
  pasted: "pasted text",
  plain: "ms of a token without speculation, if known",
  kinds: "Tokens a pass by kind of text",
  kindsExample: "coding=3.1, chat=2",
  ask: "Diagnose",
  asking: "reading\u2026",
  done: (/** @type {string} */ verdict) => `Answer: ${verdict}`,
  nothing: "Paste what an engine printed, or open a file.",
  tooLarge: (/** @type {string} */ name, /** @type {number} */ mb) =>
    `${name} brings it to ${mb.toFixed(1)} MB; at most 2 are read here. Keep the lines that speak of speculation, or use the command: python -m hsd_core doctor FILE`,
  tooMany: "Eight texts at most.",
  theme: "dark or light",
  examples: "From public threads:",
  thread: "thread",
  /** In a page without a server: before, between and behind two commands. */
  absent: ["The doctor needs the program, which this copy of the page is without: start it with ", " or ask ", "."],
  start: "python app.py",
  command: "python -m hsd_core doctor FILE",
  /** What to give. */
  how: "What to give, by engine",
  card: "diagnosis",
  of: (/** @type {string} */ engine, /** @type {string} */ drafter) => (drafter ? `${engine}, ${drafter}` : engine),
  counted: (/** @type {string} */ figures) => `Counted: ${figures}.`,
  compared: "The settings in this text",
  comparedColumns: ["setting", "ms a token", "tokens a pass", "accepted of drafted"],
  atMost: (/** @type {string} */ ms) => `at most ${ms}`,
  where: "Where the time of one token goes",
  ms: (/** @type {number} */ ms) => `${ms < 100 ? Number(ms.toPrecision(3)) : Math.round(ms)} ms`,
  part: (/** @type {string} */ words, /** @type {string} */ ms, /** @type {number} */ share) =>
    `${words} ${ms} (${Math.round(100 * share)} %)`,
  curve: "Gain by draft length",
  curveMs: "ms of a token by draft length",
  axis: "tokens of a draft",
  times: (/** @type {number} */ gain) => `${Number(gain.toFixed(2))}\u00d7`,
  best: (/** @type {number} */ k) => (k ? `best: ${k}` : "best: none"),
  now: (/** @type {number} */ k) => `now: ${k}`,
  read: (
    /** @type {number} */ k,
    /** @type {string} */ value,
    /** @type {string} */ spread,
    /** @type {boolean} */ assumed,
  ) =>
    `${k ? `drafts of ${many(k, "token")}` : "without drafts"}: ${value}${spread}${assumed ? ", assumed: longer than what was run" : ""}`,
  spread: (/** @type {string} */ low, /** @type {string} */ high) => ` (95 % between ${low} and ${high})`,
  noCurve: "Other draft lengths cannot be told from this output; below stands what would tell them.",
  steps: "Read the lengths with the arrow keys.",
  table: "The same as a table",
  columns: ["tokens of a draft", "tokens a pass", "ms a token", "gain", "95 %"],
  places: "Acceptance by position",
  placeColumns: ["position", "of drafts that came so far", "95 %", "of all drafts"],
  atLeast: (/** @type {string} */ share) => `at least ${share}`,
  percent: (/** @type {number} */ share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`,
  between: (/** @type {string} */ low, /** @type {string} */ high) => `${low} to ${high}`,
  byKind: "By kind of text",
  byKindNote: "Each kind is taken as accepted alike at every position.",
  kindColumns: ["kind of text", "accepted", "best draft length", "gain", "setting"],
  noDrafts: "none",
  byBatch: "Many requests at once",
  running: (/** @type {number} */ requests) =>
    `In this output ${Number(requests.toPrecision(3))} ran at once, in the mean.`,
  batchColumns: ["requests at once", "best draft length", "gain, at least"],
  span: (/** @type {number} */ low, /** @type {number} */ high, /** @type {boolean} */ last) =>
    last ? `${low} or more` : low === high ? String(low) : `${low} to ${high}`,
  findings: "What stands out",
  change: "What to change",
  nothingToChange: "Nothing: the present length is as good as any.",
  nothingKnown: "Nothing that these figures bear; what would tell more stands below.",
  copy: "copy",
  copied: "copied",
  notCopied: "could not be copied; select the text",
  levels: "Would a level more pay?",
  rates: "What goes by the name of acceptance",
  rate: (/** @type {string} */ name, /** @type {string} */ share, /** @type {string} */ means) =>
    `${share} ${name}: ${means}`,
  missing: "Not known, and what would tell it",
  link: "Copy a link to this answer",
  linkNote: "The link carries the counts behind its #, which no server is sent until you open it.",
};

/** What each engine prints, and how to get it. @type {[string, string, string][]} */
export const GIVE = [
  [
    "vLLM",
    "metrics before and after your prompts, one request at a time",
    "curl -s http://HOST:8000/metrics > before.prom",
  ],
  [
    "vLLM",
    "or replies that say what their drafts did",
    "--enable-per-request-metrics --per-request-spec-decode-metrics detailed",
  ],
  ["llama.cpp", "the log with positions and the drafter\u2019s own time", "llama-server ... -lv 4 2> server.log"],
  [
    "SGLang",
    "a reply of /generate, or the log\u2019s lines Decode batch",
    "curl -s http://HOST:30000/generate -d '{...}' > reply.json",
  ],
  ["transformers", "what the counting snippet writes", "assets/doctor/counting_generate.py"],
  ["aiperf", "its records", "aiperf profile ... --export-level records"],
  ["any", "beside it, a table of tokens a pass by kind of text", "aiperf speed-bench-report artifacts"],
  [
    "any",
    "for many requests at once, runs at several loads with drafts and without, or a profile of joint passes",
    "python -m hsd_core calibrate --load 1,2,4,8,16,32",
  ],
];

/** Outputs from public threads. The second is verbatim, the first one line of many; of the third the thread gives two
 *  speeds and the acceptance. @type {{name: string, about: string, url: string, text: string, plain?: number}[]} */
export const EXAMPLES = [
  {
    name: "vLLM: 15 drafted tokens, 9 % accepted",
    about: "AEON-7, issue 6",
    url: "https://github.com/AEON-7/Qwen3.6-27B-AEON-Ultimate-Uncensored-DFlash/issues/6",
    text: "INFO 05-01 14:24:50 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.37, Accepted throughput: 8.90 tokens/s, Drafted throughput: 97.50 tokens/s, Accepted: 89 tokens, Drafted: 975 tokens, Per-position acceptance rate: 0.600, 0.385, 0.215, 0.108, 0.062, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, Avg Draft acceptance rate: 9.1%\n",
  },
  {
    name: "llama.cpp: an EAGLE-3 draft, with its own time",
    about: "llama.cpp, pull request 24536",
    url: "https://github.com/ggml-org/llama.cpp/pull/24536",
    text: "slot print_timing: id  1 | task 0 |        eval time =    2296.72 ms /   256 tokens (    8.97 ms per token,   111.46 tokens per second)\nslot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)\nstatistics     draft-eagle3: #calls(b,g,a) =    1     87     87, #gen drafts =     87, #acc drafts =    70, #gen tokens =    259, #acc tokens =   167, #mean acc len = 2.92, #acc rate/pos = (0.805, 0.632, 0.483), dur(b,g,a) = 0.005, 325.555, 0.114 ms\n",
  },
  {
    name: "transformers: 81 % accepted, and still slower",
    about: "Soup, issue 843: 39.28 and 65.90 tokens/s",
    url: "https://github.com/MakazhanAlpamys/Soup/issues/843",
    text: '{"format": "hsd-doctor-runs", "runs": [{"engine": "transformers", "k": 5, "acceptance": 0.813, "draft_ms": 15.1745, "draft_timed": 1, "verify_ms": 25.4582, "plain_ms": 25.4582}]}\n',
  },
];

translate("doctor", { DOCTOR, GIVE, EXAMPLES });
