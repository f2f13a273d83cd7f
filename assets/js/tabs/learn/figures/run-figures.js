/** The figures of a run that lessons may name: what each is, how it is written, and where it comes from. */

import { kindOf } from "../../../shared/levels/kinds.js";
import { stackNames } from "../../../shared/levels/stack-names.js";
import { plainSpeed } from "../../../shared/run/figures.js";
import { FIGURES } from "../../../../text/en/learn.js";
import { ofLanes, ofStep } from "./lane-figures.js";
import { ofPlan, ofRejection, ofRound } from "./moment-figures.js";
import { as, called, chance, level, ms, percent, rate, times, whole } from "./figure-parts.js";
import { yielded } from "../sums/yields.js";

/** @typedef {import("../../../shared/run/trace.js").TraceModel} Model */

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
export function ratio(model) {
  const plain = plainSpeed(model.baseline);
  const mine = last(model)?.tokens_per_s;
  return plain && mine ? mine / plain : null;
}

/** @type {Record<string, [string, (v: any) => string, (model: Model, ...rest: string[]) => number|string|null|undefined]>} */
export const RUN = {
  speedup: [FIGURES.speedup, times, (m) => ratio(m)],
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

/**
 * How a figure of a moment is written where its head alone does not say: plans are told apart by their names.
 * @param {string} head @param {string[]} rest @param {Model|null} model
 */
export function unitOf(head, rest, model) {
  if (head === "reject") return rest.at(-1) === "round" ? whole : null;
  const named = (/** @type {string} */ stack) => stackNames((model?.plans ?? []).map((one) => one.stack)).get(stack);
  if (head === "plan") return { ms, took: ms, stack: named }[rest[1]] ?? null;
  if (head === "lanes") return { gain: times, dropped: whole }[rest[0]] ?? null;
  if (head === "step") return rest[0] === "most" ? times : null;
  if (head !== "round") return null;
  return { ms, usual: ms, over: times }[rest[1]] ?? null;
}
