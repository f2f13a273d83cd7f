/** The figures of a run that lessons may name (what each is, how it is written, where it comes from), and its
 *  moments. */

import { kindOf } from "../../../shared/levels/kinds.js";
import { stackNames, stackName } from "../../../shared/levels/stack-names.js";
import { plainSpeed } from "../../../shared/run/figures.js";
import { priceOf } from "../../../shared/run/spared.js";
import { FIGURES } from "../../../../text/en/learn.js";
import { yielded, atMost } from "./sums.js";
import { placeOfNumber, roundNumber } from "../../../shared/kit/round-number.js";
import { figure, fixed as written, millis, ratio, rounded } from "../../../../text/numbers.js";

/** @import {LoadMap, Measured} from "../../../shared/plots/load-map.js" @import {Row} from "../../../shared/run/events.js"
 *  @import {TokenRecord} from "../../../shared/run/records.js"
 *  @import {TraceModel as Model, Segment, TraceModel} from "../../../shared/run/trace.js" */

/** Lessons as app/tabs/learn/lessons.py declares them.
 *  @typedef {{recording?: string, at?: string, play?: string, seconds?: number, token?: number|"copied", light?: string[],
 *    set?: Record<string, any>, tab?: string}} Action
 *  @typedef {{kind: string, recording?: string, at?: string, to?: string, between?: [string, string], colour?: string, stacks?: string[],
 *    levels?: string[], guesses?: number, shows?: "exit"|"both"|"bonus", open?: "exit"|"both", beside?: string[]}} Drawn
 *  @typedef {{answer: string, given?: string, unit?: string, within?: number}} Estimate
 *  @typedef {{ask: string, hides?: string[], choices?: {text: string, right?: boolean, when?: string}[], number?: Estimate}} Question
 *  @typedef {{when: string, text: string}} Also
 *  @typedef {{text: string, figure?: Drawn, also?: Also[], action?: Action}} Reveal
 *  @typedef {{title: string, text: string, figure?: Drawn, action?: Action, question?: Question, reveal?: Reveal}} Step
 *  @typedef {{id: string, number: number, title: string, goal: string, minutes: number, steps: Step[], summary: string[], sources?: string[],
 *    try: {text: string, button?: string, action?: Action}}} Lesson
 *  @typedef {number|null} Answer the index of a choice, an estimate, null for one that was shown */
/** @template R @typedef {[tip: string, format: (v: any) => string, read: R]} Entry a figure: what it is, how it is written and read */
/** machines: this one first, then those of `COMPUTED`; times: of a pass of one row.
 *  @typedef {{name: string, computed: boolean, rows: number[], times: number[], twice: number}} Machine
 *  @typedef {{about: {machine: string, recorded: string}, loads: number[], rows: number[], pass_ms: number[][],
 *    measured: boolean, gains: Pick<Measured, "stack"|"load"|"speed_up"|"interval">[], map: LoadMap, machines: Machine[]}} ManyRequests */

/** @typedef {{model: Model|null, recordings: Map<string, Model>, reports: any[], requests?: ManyRequests|null}} Sources */

export const fixed = (/** @type {number} */ digits) => (/** @type {number} */ v) => written(v, digits);
export const whole = (/** @type {number} */ v) => String(Math.round(v));
export const percent = (/** @type {number} */ v) => `${Math.round(100 * v)}\u00a0%`;
export const times = ratio;
export const ms = millis;
export const rate = (/** @type {number} */ v) => rounded(v);
export const chance = figure;
export const as = (/** @type {unknown} */ text) => String(text);
export const called = (/** @type {unknown} */ stack) => stackName(String(stack));

/** A level by its letter; `below` is the one that hands up to the target. @param {Model} model @param {string} tag */
export const level = (model, tag) =>
  (tag === "below" ? model.levels.at(-2) : model.levels.find((one) => one.tag === tag)) ?? null;

const last = (/** @type {Model} */ model) => model.snapshots.at(-1) ?? null;
const gauge = (/** @type {Model} */ model, /** @type {string} */ tag) => {
  const own = level(model, tag);
  return own && model.figures.of(Infinity, own.index);
};
const committed = (/** @type {Model} */ model) => model.committed.flatMap((serial) => model.tokens.get(serial) ?? []);
const supplied = (/** @type {Model} */ model, /** @type {string} */ tag) => {
  const own = level(model, tag);
  return own && committed(model).filter((token) => token.level === own.index).length;
};
const inverse = (/** @type {number|null|undefined} */ v) => (v ? 1000 / v : null);
/** @param {number|null|undefined} a @param {number|null|undefined} b */
const product = (a, b) => (a == null || b == null ? null : a * b);
const mixed = (/** @type {(v: number) => string} */ number) => (/** @type {unknown} */ v) =>
  typeof v === "number" ? number(v) : as(v);

/** How many times as fast as plain decoding a run was. @param {Model} model */
export function speedUp(model) {
  const plain = plainSpeed(model.baseline);
  const mine = last(model)?.tokens_per_s;
  return plain && mine ? mine / plain : null;
}

/** @type {Record<string, [string, (v: any) => string, (model: Model, ...rest: string[]) => number|string|null|undefined]>} */
export const RUN = {
  speedup: [FIGURES.speedup, times, speedUp],
  tokens_per_s: [FIGURES.tokensPerSecond, rate, (m) => last(m)?.tokens_per_s],
  plain_tokens_per_s: [FIGURES.plainTokensPerSecond, rate, (m) => plainSpeed(m.baseline)],
  plain_ms: [FIGURES.plainMs, ms, (m) => inverse(plainSpeed(m.baseline))],
  ms_per_token: ["1000 / tokens/s", ms, (m) => inverse(last(m)?.tokens_per_s)],
  per_forward: [FIGURES.perForward, times, (m) => last(m)?.tokens_per_target_forward],
  pass_ms: [FIGURES.passMs, ms, (m) => product(last(m)?.tokens_per_target_forward, inverse(last(m)?.tokens_per_s))],
  plain_pass_ms: [
    FIGURES.plainPassMs,
    ms,
    (m) => product(last(m)?.tokens_per_target_forward, inverse(plainSpeed(m.baseline))),
  ],
  kept: [FIGURES.kept, percent, (m) => last(m)?.drafts_kept],
  committed: [FIGURES.committed, whole, (m) => m.committed.length],
  rounds: [FIGURES.rounds, whole, (m) => m.rounds.length],
  equal: [FIGURES.equal, whole, (m) => m.baseline?.equal],
  stack: [FIGURES.stack, called, (m) => m.header?.stack],
  machine: [FIGURES.machine, as, (m) => m.header?.machine],
  layers: [FIGURES.layers, whole, (m) => m.levels.at(-1)?.layers],
  mbsu: [FIGURES.memoryBound, times, (m) => last(m)?.mbsu],
  layers_per_token: [FIGURES.layersPerToken, rate, (m) => last(m)?.layers_per_token],
  temperature: [FIGURES.temperature, as, (m) => m.header?.sampling?.temperature],
  rejections: [FIGURES.rejections, whole, (m) => m.ghosts.length],
  spared: [FIGURES.spared, percent, (m) => priceOf(m)?.share],
  surprise: [FIGURES.surprise, fixed(2), (m) => priceOf(m)?.surprise],
  plain_surprise: [FIGURES.plainSurprise, fixed(2), (m) => priceOf(m)?.plain],
  plans: [FIGURES.plans, whole, (m) => m.plans.length || null],

  acceptance: [FIGURES.acceptance, times, (m, tag) => gauge(m, tag)?.acceptance],
  accepted: [FIGURES.accepted, whole, (m, tag) => gauge(m, tag)?.accepted],
  judged: [FIGURES.judged, whole, (m, tag) => gauge(m, tag)?.judged],
  forwards: [FIGURES.forwards, whole, (m, tag) => gauge(m, tag)?.forwards],
  ms: [FIGURES.ms, ms, (m, tag) => gauge(m, tag)?.ms_per_call],
  block: [FIGURES.block, whole, (m, tag) => level(m, tag)?.block],
  name: [FIGURES.name, as, (m, tag) => level(m, tag)?.name],
  cost: [FIGURES.cost, ms, (m, tag) => product(gauge(m, tag)?.busy_ms, 1 / m.committed.length)],
  supplied: [FIGURES.supplied, whole, supplied],
  share: [FIGURES.share, percent, (m, tag) => product(supplied(m, tag), 1 / m.committed.length)],
  yields: [
    FIGURES.yields,
    times,
    (m, tag, given) => {
      const a = gauge(m, tag)?.acceptance;
      const n = given ? Number(given) : m.levels[(level(m, tag)?.index ?? NaN) - 1]?.block;
      return a == null || !n ? null : yielded(a, n);
    },
  ],
  ceiling: [
    FIGURES.ceiling,
    times,
    (m, tag) => {
      const a = gauge(m, tag)?.acceptance ?? 1;
      return a < 1 ? 1 / (1 - a) : null;
    },
  ],
  depth: [FIGURES.depth, whole, (m, tag) => Number(level(m, tag)?.params?.at) || null],
  source: [
    FIGURES.source,
    percent,
    (m, letter) => {
      const looks = m.levels.map(({ kind }) => kindOf(kind).origins.some((one) => one.letter === letter));
      const drafted = committed(m).filter((t) => t.how === "draft" && looks[t.level]);
      return drafted.length ? drafted.filter((t) => t.source === letter).length / drafted.length : null;
    },
  ],
  round: [FIGURES.round, mixed(whole), (m, n, what, tag, more) => ofRound(m, n, what, tag, more)],
  reject: [FIGURES.rejection, mixed(chance), (m, ...which) => ofRejection(m, ...which)],
  plan: [FIGURES.plan, mixed(whole), (m, n, what) => ofPlan(m, n, what)],
  lanes: [FIGURES.lanes, mixed(percent), (m, what) => ofLanes(m, what)],
  step: [FIGURES.step, mixed(ms), (m, what) => ofStep(m, what)],
};

/** How a figure of a moment is written where its head alone does not say: plans are told apart by their names.
 *  @param {string} head @param {string[]} rest @param {Model|null} model */
export function unitOf(head, rest, model) {
  if (head === "reject") return rest.at(-1) === "round" ? whole : null;
  const named = (/** @type {string} */ stack) => stackNames((model?.plans ?? []).map((one) => one.stack)).get(stack);
  if (head === "plan") return { ms, took: ms, stack: named }[rest[1]] ?? null;
  if (head === "lanes") return { gain: times, dropped: whole }[rest[0]] ?? null;
  if (head === "step") return rest[0] === "most" ? times : null;
  if (head !== "round") return null;
  return { ms, usual: ms, over: times }[rest[1]] ?? null;
}

// Figures of two lanes: how much of the time they work, and how long a round keeps each of them.

const middle = (/** @type {number[]} */ list) => list.sort((a, b) => a - b)[list.length >> 1] ?? null;

/** Medians over the rounds, ns: all that the levels below the target did, and the target's pass; null without either.
 *  @param {Model} model @returns {{below: number, target: number}|null} */
export function roundOfLanes(model) {
  const top = model.levels.length - 1;
  const took = (/** @type {Segment[]} */ list) => list.reduce((sum, s) => sum + s.t1 - s.t0, 0);
  const rounds = model.rounds.filter((one) => one.segments.some((s) => s.level === top && s.kind === "verify"));
  const below = middle(rounds.map((one) => took(one.segments.filter((s) => s.level < top))).filter(Boolean));
  const target = middle(rounds.map((one) => took(one.segments.filter((s) => s.level === top))));
  return below && target ? { below, target } : null;
}

/** A figure of a median round: ms of a lane, or at most how many times as fast both lanes at once are. @param {Model} model @param {string} what */
function ofStep(model, what) {
  const found = roundOfLanes(model);
  if (!found) return null;
  if (what === "most") return atMost(found.below, found.target);
  return what === "below" || what === "target" ? found[what] / 1e6 : null;
}

/** A figure of the lanes, as the server worked it out; null where one level works after another. @param {any} model @param {string} what */
const ofLanes = (model, what) => model.snapshots.at(-1)?.lanes?.[what] ?? null;

// The figures of a moment of a run: of a round, of a rejection, of a plan of Auto.

/** @template T @param {T[]} list @param {(one: T) => number} f */
const sum = (list, f) => (list.length ? list.reduce((total, one) => total + f(one), 0) : null);
const took = (/** @type {{t0: number, t1: number}} */ s) => s.t1 - s.t0;
const inMs = (/** @type {number|null|undefined} */ ns) => (ns == null ? null : ns / 1e6);

/** The calls of a level in a round. @param {Model} model @param {string} n counted from 1 @param {string} tag */
function calls(model, n, tag, kind = "") {
  const of = model.rounds[placeOfNumber(Number(n))]?.round;
  const index = level(model, tag)?.index;
  return model.segments.filter((s) => s.round === of && s.level === index && (!kind || s.kind === kind));
}

/** A figure of the nth round. @param {Model} model @param {string} n */
export function ofRound(model, n, /** @type {string} */ what, /** @type {string} */ tag, /** @type {string} */ more) {
  const own = model.rounds[placeOfNumber(Number(n))];
  if (!own) return null;
  if (what === "tokens") return own.tokens;
  if (what === "ms") return inMs(tag ? sum(calls(model, n, tag), took) : own.t1 - own.t0);
  if (what === "usual") return usual(model, n, tag);
  if (what === "over") return (usual(model, n, more) ?? NaN) / (usual(model, tag, more) ?? NaN);
  if (what === "rows") return sum(calls(model, n, tag), (s) => s.rows);
  if (what === "calls") return calls(model, n, tag).length || null;
  if (what === "drafted") return sum(calls(model, n, tag, "draft"), (s) => s.tokensOut);
  return null;
}

/** Median ms of all calls of a level over as many rows as its call in the nth round had: a single one may be disturbed. */
function usual(/** @type {Model} */ model, /** @type {string} */ n, /** @type {string} */ tag) {
  const [mine] = calls(model, n, tag);
  if (!mine) return null;
  const like = model.segments.filter((s) => s.level === mine.level && s.rows === mine.rows && s.kind === mine.kind);
  return inMs(like.map(took).sort((a, b) => a - b)[like.length >> 1]);
}

const verdict = (/** @type {TokenRecord} */ record) => record.judgements.find((j) => j.outcome === "rejected") ?? null;

/** The nth token that was rejected, of all or by a level; `which` is "2" or "Q", "2". @param {Model} model @param {string[]} which */
export function rejected(model, ...which) {
  const by = which.length > 1 ? level(model, which[0])?.index : undefined;
  const fits = (/** @type {TokenRecord} */ one) => which.length === 1 || verdict(one)?.level === by;
  return model.ghosts.filter(fits)[Number(which.at(-1)) - 1] ?? null;
}

/** A figure of a rejection: `2.p`, or `Q.2.p`. @param {Model} model @param {string[]} rest */
function ofRejection(model, ...rest) {
  const what = rest.at(-1) ?? "";
  const lost = rejected(model, ...rest.slice(0, -1));
  const found = lost && verdict(lost);
  if (!lost || !found) return null;
  if (what === "token") return glyphs(model, lost);
  if (what === "instead") return glyphs(model, instead(model, lost));
  if (what === "by") return model.levels[found.level].tag;
  if (what === "of") return model.levels[lost.level].tag;
  if (what === "round") return roundNumber(found.round);
  if (what === "raw") return probability(found.pRow, lost.id);
  if (what === "wanted") return probability(found.pRow, instead(model, lost)?.id);
  return { p: found.p, q: found.q, alpha: found.alpha, coin: found.coin }[what] ?? null;
}

/** @param {Row|null} row @param {number|undefined} id */
const probability = (row, id) => {
  const at = row && id !== undefined ? row.ids.indexOf(id) : -1;
  return row?.probs[at] ?? null;
};

function instead(/** @type {Model} */ model, /** @type {TokenRecord} */ lost) {
  const drawn = [...model.tokens.values()].filter((t) => t.how === "correct" && t.tDraft >= (lost.tGone ?? Infinity));
  return drawn.find((t) => t.at === lost.at && t.level === lost.goneBy) ?? null;
}

/** @param {Model} model @param {TokenRecord|null} record */
const glyphs = (model, record) => record && `\u201c${model.pieceText(record.id)}\u201d`;

/** A figure of a plan: of the nth, or of the `last`. @param {Model} model @param {string} n @param {string} what */
function ofPlan(model, n, what) {
  const at = n === "last" ? model.plans.length - 1 : Number(n) - 1;
  const plan = model.plans[at];
  if (!plan) return null;
  const until = model.plans[at + 1]?.round ?? Infinity;
  const ran = model.rounds.filter((r) => r.round >= plan.round && r.round < until);
  const tokens = sum(ran, (r) => r.tokens) ?? 0;
  /** @type {Record<string, string|number|null>} */ const told = {
    stack: plan.stack,
    round: roundNumber(plan.round),
    ms: plan.predicted_ms,
    levels: plan.levels.length,
    blocks: sum(plan.blocks, (block) => block) ?? 0,
    rounds: ran.length,
    tokens,
    took: tokens ? (sum(ran, took) ?? 0) / 1e6 / tokens : null,
  };
  return told[what] ?? null;
}

// Moments of a run by the words that lessons use: "start", "round 3", "round 3 drafted", "round 3 end", "reject 2" of
// all, "reject Q 2" by a level, "reject Q 2 end" of its round, "token 10", "40%".

/** @param {Model} model @param {string} words
 *  @returns {number|null} ns; null where the run has no such moment */
export function momentOf(model, words) {
  const start = model.rounds[0]?.t0 ?? 0;
  if (words === "start") return start;
  if (words === "end") return model.end;
  if (words.endsWith("%")) return start + ((model.end - start) * parseFloat(words)) / 100;
  const [what, ...rest] = words.split(" ");
  if (what === "token") return model.commitTimes[Number(rest[0]) - 1] ?? null;
  if (what === "reject") return fallen(model, rest);
  const [n, when] = rest;
  const round = model.rounds[Number(n) - 1];
  if (!round || !when) return round?.t0 ?? null;
  return when === "end" ? round.t1 : draftedBy(model, round);
}

/** When a token was rejected, or the end of the round in which it was. @param {TraceModel} model @param {string[]} words */
function fallen(model, words) {
  const over = words.at(-1) === "end";
  const lost = rejected(model, ...(over ? words.slice(0, -1) : words));
  const t = lost?.tGone ?? null;
  if (t === null || !over) return t;
  return model.rounds.find((round) => round.t1 >= t)?.t1 ?? null;
}

/** When a round's first draft was there, before anybody judged it. A lookup that finds nothing leaves no event, and the moment
 *  would be the previous round's: then it is the round's first event. */
function draftedBy(/** @type {TraceModel} */ model, /** @type {{round: number, t0: number}} */ { round, t0 }) {
  const draft = model.segments.find((one) => one.round === round && one.kind === "draft");
  return (draft?.tokensOut ? draft.t1 : model.marks.find((one) => one.round === round)?.t) ?? t0;
}
