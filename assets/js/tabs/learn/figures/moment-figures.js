/** The figures of a moment of a run: of a round, of a rejection, of a plan of Auto. */

import { placeOfNumber, roundNumber } from "../../../shared/kit/round-number.js";
import { level } from "./figure-parts.js";

/** @typedef {import("../../../shared/run/trace.js").TraceModel} Model @typedef {import("../../../shared/run/records.js").TokenRecord} TokenRecord */

/** @template T @param {T[]} list @param {(one: T) => number} f */
const sum = (list, f) => (list.length ? list.reduce((total, one) => total + f(one), 0) : null);
const took = (/** @type {{t0: number, t1: number}} */ s) => s.t1 - s.t0;
const millis = (/** @type {number|null|undefined} */ ns) => (ns == null ? null : ns / 1e6);

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
  if (what === "ms") return millis(tag ? sum(calls(model, n, tag), took) : own.t1 - own.t0);
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
  return millis(like.map(took).sort((a, b) => a - b)[like.length >> 1]);
}

const verdict = (/** @type {TokenRecord} */ record) => record.judgements.find((j) => j.outcome === "rejected") ?? null;

/** The nth token that was rejected, of all or by a level; `which` is "2" or "Q", "2". @param {Model} model @param {string[]} which */
export function rejected(model, ...which) {
  const by = which.length > 1 ? level(model, which[0])?.index : undefined;
  const fits = (/** @type {TokenRecord} */ one) => which.length === 1 || verdict(one)?.level === by;
  return model.ghosts.filter(fits)[Number(which.at(-1)) - 1] ?? null;
}

/** A figure of a rejection: `2.p`, or `Q.2.p`. @param {Model} model @param {string[]} rest */
export function ofRejection(model, ...rest) {
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

/** @param {import("../../../shared/run/events.js").Row|null} row @param {number|undefined} id */
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
export function ofPlan(model, n, what) {
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
