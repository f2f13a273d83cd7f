/** The figures that a lesson names: `$speedup` is the shown run's, `${08-loses|speedup}` that of a recording, and
 *  `${bench|best.3.speed_up}` a shipped result's. Each is a function of a model, so that none is written into a lesson. */

import { plainSpeed } from "../charts.js";
import { FIGURES } from "../words/learn.js";

/** As in app/learn/lessons.py. */
const NAME = "[a-z_]+(?:\\.[A-Za-z0-9_]+)*";
export const REFERENCE = new RegExp(`\\$(?:(${NAME})|\\{([^{}|]+)\\|(${NAME})\\})`, "g");

/** @typedef {import("../trace.js").TraceModel} Model */
/** @typedef {{value: number|string, text: string, tip: string}} Figure */
/** @typedef {{model: Model|null, recordings: Map<string, Model>, reports: any[]}} Sources */

const fixed = (digits) => (v) => v.toFixed(digits);
const whole = (v) => String(Math.round(v));
const percent = (v) => `${Math.round(100 * v)}\u00a0%`;
const times = fixed(2);
const ms = (v) => `${v >= 10 ? v.toFixed(0) : v >= 1 ? v.toFixed(1) : v.toPrecision(2)}\u00a0ms`;
const rate = fixed(1);
const chance = (v) => (v === 0 || v === 1 ? String(v) : v < 0.01 ? v.toPrecision(1) : v.toFixed(2));
const as = (text) => String(text);

const last = (model) => model.snapshots.at(-1) ?? null;
const level = (model, tag) => model.levels.find((one) => one.tag === tag) ?? null;
const gauge = (model, tag) => {
  const own = level(model, tag);
  return own && model.figures.of(Infinity, own.index);
};
const round = (model, n) => model.rounds[Number(n) - 1] ?? null;
const parts = (model, n, tag, kind) => {
  const of = round(model, n)?.round;
  const index = level(model, tag)?.index;
  return model.segments.filter((s) => s.round === of && s.level === index && (!kind || s.kind === kind));
};
const sum = (list, f) => (list.length ? list.reduce((total, one) => total + f(one), 0) : null);
const committed = (model) => model.committed.map((serial) => model.tokens.get(serial));
const ghost = (model, n) => model.ghosts[Number(n) - 1] ?? null;
const verdict = (model, n) => ghost(model, n)?.judgements.find((j) => j.outcome === "rejected") ?? null;
const own = (row, id) => {
  const at = row?.ids.indexOf(id) ?? -1;
  return at < 0 ? null : row.probs[at];
};
function instead(model, n) {
  const lost = ghost(model, n);
  if (!lost) return null;
  const drawn = [...model.tokens.values()].filter((t) => t.how === "correct" && t.tDraft >= lost.tGone);
  return drawn.find((t) => t.at === lost.at && t.level === lost.goneBy) ?? null;
}
const glyphs = (model, record) => record && `\u201c${model.pieceText(record.id)}\u201d`;
/** Tokens a verification yields where each of n drafted ones is kept with probability a. */
const yielded = (a, n) => (a === 1 ? n + 1 : (1 - a ** (n + 1)) / (1 - a));

/**
 * What a run can be asked for: what it is, how it is written, and where it comes from.
 * @type {Record<string, [string, (v: any) => string, (model: any, ...rest: string[]) => number|string|null|undefined]>}
 */
const RUN = {
  speedup: [FIGURES.speedup, times, (m) => ratio(m)],
  tokens_per_s: [FIGURES.tokensPerSecond, rate, (m) => last(m)?.tokens_per_s],
  plain_tokens_per_s: [FIGURES.plainTokensPerSecond, rate, (m) => plainSpeed(m.baseline)],
  plain_ms: [FIGURES.plainMs, ms, (m) => inverse(plainSpeed(m.baseline))],
  ms_per_token: ["1000 / tokens/s", ms, (m) => inverse(last(m)?.tokens_per_s)],
  per_forward: [FIGURES.perForward, rate, (m) => last(m)?.tokens_per_target_forward],
  kept: [FIGURES.kept, percent, (m) => last(m)?.drafts_kept],
  committed: [FIGURES.committed, whole, (m) => m.committed.length],
  rounds: [FIGURES.rounds, whole, (m) => m.rounds.length],
  equal: [FIGURES.equal, whole, (m) => m.baseline?.equal],
  stack: [FIGURES.stack, as, (m) => m.header?.stack],
  machine: [FIGURES.machine, as, (m) => m.header?.machine],
  layers: [FIGURES.layers, whole, (m) => m.levels.at(-1)?.layers],
  layers_per_token: [FIGURES.layersPerToken, rate, (m) => last(m)?.layers_per_token],
  temperature: [FIGURES.temperature, as, (m) => m.header?.sampling?.temperature],
  rejections: [FIGURES.rejections, whole, (m) => m.ghosts.length],
  plans: [FIGURES.plans, whole, (m) => m.plans.length || null],

  acceptance: [FIGURES.acceptance, times, (m, tag) => gauge(m, tag)?.acceptance],
  accepted: [FIGURES.accepted, whole, (m, tag) => gauge(m, tag)?.accepted],
  judged: [FIGURES.judged, whole, (m, tag) => gauge(m, tag)?.judged],
  forwards: [FIGURES.forwards, whole, (m, tag) => gauge(m, tag)?.forwards],
  ms: [FIGURES.ms, ms, (m, tag) => gauge(m, tag)?.ms_per_call],
  block: [FIGURES.block, whole, (m, tag) => level(m, tag)?.block],
  name: [FIGURES.name, as, (m, tag) => level(m, tag)?.name],
  cost: [FIGURES.cost, ms, (m, tag) => (gauge(m, tag) ? gauge(m, tag).busy_ms / m.committed.length : null)],
  supplied: [
    FIGURES.supplied,
    whole,
    (m, tag) => (level(m, tag) ? committed(m).filter((t) => t.level === level(m, tag).index).length : null),
  ],
  share: [
    FIGURES.share,
    percent,
    (m, tag) =>
      level(m, tag) ? committed(m).filter((t) => t.level === level(m, tag).index).length / m.committed.length : null,
  ],
  yields: [
    FIGURES.yields,
    times,
    (m, tag, given) => {
      const a = gauge(m, tag)?.acceptance;
      const n = given ? Number(given) : m.levels[level(m, tag)?.index - 1]?.block;
      return a == null || !n ? null : yielded(a, n);
    },
  ],
  ceiling: [
    FIGURES.ceiling,
    times,
    (m, tag) => (gauge(m, tag)?.acceptance < 1 ? 1 / (1 - gauge(m, tag).acceptance) : null),
  ],
  depth: [FIGURES.depth, whole, (m, tag) => Number(level(m, tag)?.params?.at) || null],
  source: [
    FIGURES.source,
    percent,
    (m, letter) => {
      const drafted = committed(m).filter((t) => t.how === "draft" && m.levels[t.level].kind === "ngram");
      return drafted.length ? drafted.filter((t) => t.source === letter).length / drafted.length : null;
    },
  ],
  round: [FIGURES.round, (v) => (typeof v === "number" ? whole(v) : as(v)), (m, n, ...what) => ofRound(m, n, ...what)],
  reject: [FIGURES.rejection, (v) => (typeof v === "number" ? chance(v) : as(v)), (m, n, what) => ofReject(m, n, what)],
  plan: [FIGURES.plan, (v) => (typeof v === "number" ? whole(v) : as(v)), (m, n, what) => ofPlan(m, n, what)],
};

function ofRound(model, n, what, tag, more) {
  const own = round(model, n);
  if (!own) return null;
  if (what === "tokens") return own.tokens;
  const time = (ns) => (ns == null ? null : ns / 1e6);
  if (what === "ms") return tag ? time(sum(parts(model, n, tag, ""), (s) => s.t1 - s.t0)) : time(own.t1 - own.t0);
  if (what === "over") return ofRound(model, n, "ms", more) / ofRound(model, tag, "ms", more) || null;
  if (what === "rows") return sum(parts(model, n, tag, ""), (s) => s.rows);
  if (what === "calls") return parts(model, n, tag, "").length || null;
  if (what === "drafted") return sum(parts(model, n, tag, "draft"), (s) => s.tokensOut);
  return null;
}

function ofReject(model, n, what) {
  const found = verdict(model, n);
  if (!found) return null;
  const lost = ghost(model, n);
  if (what === "token") return glyphs(model, lost);
  if (what === "instead") return glyphs(model, instead(model, n));
  if (what === "by") return model.levels[found.level].tag;
  if (what === "of") return model.levels[lost.level].tag;
  if (what === "round") return String(model.rounds.findIndex((r) => r.round === found.round) + 1);
  if (what === "raw") return own(found.pRow, lost.id);
  if (what === "wanted") return own(found.pRow, instead(model, n)?.id);
  return { p: found.p, q: found.q, alpha: found.alpha, coin: found.coin }[what] ?? null;
}

function ofPlan(model, n, what) {
  const plan = model.plans[Number(n) - 1];
  if (!plan) return null;
  const told = { stack: plan.stack, round: plan.round + 1, ms: plan.predicted_ms, levels: plan.levels.length };
  return told[what] ?? null;
}

function ratio(model) {
  const plain = plainSpeed(model.baseline);
  const mine = last(model)?.tokens_per_s;
  return plain && mine ? mine / plain : null;
}

const inverse = (v) => (v ? 1000 / v : null);

/** Of a shipped benchmark: `best.3.speed_up` of the quickest stack of three levels, or that of a stack by its name. */
const BENCH = {
  speed_up: [FIGURES.benchSpeedup, times, (r) => r.speed_up],
  low: [FIGURES.benchLow, times, (r) => r.interval[0]],
  high: [FIGURES.benchHigh, times, (r) => r.interval[1]],
  per_forward: [FIGURES.benchPerForward, rate, (r) => r.accepted_per_pass],
  tokens_per_s: [FIGURES.benchRate, rate, (r) => r.tokens_per_s],
  stack: [FIGURES.benchStack, as, (r) => r.stack],
  over: [FIGURES.benchOver, times, (r, other) => r.speed_up / other.speed_up],
};

function row({ reports }, stack, levels) {
  const report = reports.find(({ results }) => results.about.preset === "smollm2")?.results;
  const rows = (report?.stacks ?? []).filter((one) => one.plain === "target");
  const fits = (one) => (stack ? one.stack === stack : one.stack.split(",").length === Number(levels));
  const best = rows.filter(fits).sort((a, b) => b.speed_up - a.speed_up)[0];
  return best ? { ...best, machine: report.about.machine } : null;
}

/**
 * A reference's figure; null where its run is not at hand or has none.
 * @param {Sources} sources @param {string} name @param {string} [source] "", a recording, "bench" or "bench:STACK"
 * @returns {Figure|null}
 */
export function figure(sources, name, source = "") {
  const [head, ...rest] = name.split(".");
  if (source === "bench" || source.startsWith("bench:")) {
    const best = head === "best";
    const [levels, what, beside] = best ? rest : ["", head];
    const found = row(sources, source.slice(6), levels);
    const other = beside ? row(sources, "", beside) : null;
    const read = (f) => (found && (other || !beside) ? f(found, other) : null);
    return written(BENCH[what], read, FIGURES.shipped(found?.machine));
  }
  const model = source ? sources.recordings.get(source) : sources.model;
  const from = model?.header?.title || (source ? FIGURES.recording(source) : FIGURES.shown);
  return written(RUN[head], (read) => (model?.header ? read(model, ...rest) : null), from, unitOf(head, rest));
}

/** How a round's times are written. */
function unitOf(head, rest) {
  if (!["round", "plan"].includes(head)) return null;
  return rest.includes("ms") ? ms : rest.includes("over") ? times : null;
}

/** @param {((v: any) => string)|null} [unit] */
function written(entry, asked, from, unit = null) {
  if (!entry) return null;
  const [tip, format, read] = entry;
  const value = asked(read);
  if (value === null || value === undefined || Number.isNaN(value)) return null;
  return { value, text: (unit ?? format)(value), tip: `${tip}; ${from}` };
}

/** Whether a condition such as "$speedup < 1 and $kept > 0.5" holds; null where a figure is missing. */
export function holds(condition, sources) {
  const found = condition.split(" and ").map((part) => {
    const [left, sign, right] = part.split(" ").map((x, i) => (i === 1 ? x : operand(x, sources)));
    if (left === null || right === null) return null;
    return { "<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right, "=": left === right }[
      sign
    ];
  });
  return found.includes(null) ? null : found.every(Boolean);
}

function operand(text, sources) {
  const [found] = text.matchAll(REFERENCE);
  return found ? (figure(sources, found[1] ?? found[3], found[2])?.value ?? null) : Number(text);
}

/** The recordings that a lesson's texts name. @param {any} value */
export function recordingsIn(value) {
  const found = JSON.stringify(value).matchAll(REFERENCE);
  return [...new Set([...found].map((one) => one[2]).filter((name) => name && !name.startsWith("bench")))];
}
