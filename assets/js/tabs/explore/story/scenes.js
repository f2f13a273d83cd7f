/** The story as a list of moments, out of a recorded run and one of its rounds. Nothing here draws: a moment is a place
 *  on the engine's clock, and what is shown there follows from the round as the anatomy has it. */

import { roundOf, settled } from "../../../shared/anatomy/round.js";
import { speedUp } from "../../../shared/run/figures.js";
import { kindOf } from "../../../shared/levels/kinds.js";
import { ofRun, stated, timeOf } from "../../../shared/levels/stated.js";
import { duration, ratio } from "../../../../text/numbers.js";
import { TOLD } from "../../../../text/en/story.js";

/** @import {Call, Round} from "../../../shared/anatomy/round.js"
 *  @import {TraceModel} from "../../../shared/run/trace.js" */

/** @typedef {"begins"|"drafts"|"rises"|"judges"|"corrects"|"commits"|"alone"|"one"|"both"|"runs"|"ends"} What
 *  @typedef {{scene: number, what: What, at: number, call: Call|null, nth: number, says: string, lasts: number}} Moment
 *    scene: from 1; at: ns on the engine's clock; nth: words of plain decoding that are written; lasts: ms until the next
 *    one follows by itself
 *  @typedef {{id: number, at: number, ns: number}} PlainWord a token of plain decoding, its place and what its pass took */

/** @type {{[what in What]: number}} */
const MS = {
  runs: 0, // as long as its replay lasts
  ...{ begins: 3400, drafts: 2900, rises: 3200, judges: 3200, corrects: 2000, commits: 3000 },
  ...{ alone: 1700, one: 650, both: 3000, ends: 3000 },
};

/** All moments of the story, in order.
 *  @param {TraceModel} model @param {number} place of the round, from 0 @returns {Moment[]} */
export function momentsOf(model, place) {
  const round = /** @type {Round} */ (roundOf(model, place));
  return [...roundMoments(model, round), ...aloneMoments(model, round), ...runMoments(model)];
}

/** The time of plain decoding's words. @param {TraceModel} model @param {PlainWord[]} words those beside a round */
export const plainTimeOf = ({ header }, words) =>
  stated(
    ["plain_time", ...words.map(({ at }) => at)],
    ofRun(header),
    duration(words.reduce((sum, { ns }) => sum + ns, 0)),
  );

/** A word as the story shows it. @param {TraceModel} model @param {number} id */
export const wordOf = (model, id) => model.pieceText(id).replace(/^\u00b7(?=.)/, "");

/** Whether plain decoding wrote the same text. @param {TraceModel} model */
export const sameText = ({ baseline, committed }) =>
  baseline !== null && !baseline.diverges && baseline.equal >= committed.length;

/** @param {TraceModel} model @param {Round} round @returns {Moment[]} */
function roundMoments(model, round) {
  /** @type {Moment[]} */ const list = [];
  /** @param {number} at @param {string} says */
  const add = (/** @type {What} */ what, at, says, /** @type {Call|null} */ call = null) =>
    list.push({ scene: 1, what, at, call, nth: 0, says, lasts: MS[what] });
  add("begins", round.t0 - 1, TOLD.begins);
  for (const call of round.calls) {
    const { kind, level, t0, t1 } = call.segment;
    const [who, time] = [phraseOf(model, level), timeOf(model, call.segment)];
    if (kind === "draft") {
      add("drafts", t1, TOLD.drafts(who, call.tiles.length, time), call);
      continue;
    }
    const { given, kept, struck, own } = verdictOf(call);
    const top = level === model.levels.length - 1;
    const rises = top ? TOLD.arrives(given, time) : TOLD.rises(who, given, time);
    add("rises", t0, rises, call);
    const text = own ? wordOf(model, own.record.id) : "";
    if (struck) {
      add("judges", t1, TOLD.strikes(kept, wordOf(model, struck.record.id)), call);
      add("corrects", settled(model, t1), TOLD.corrects(text), call);
    } else add("judges", settled(model, t1), own ? TOLD.adds(kept, text) : TOLD.keeps(kept), call);
  }
  add("commits", round.t1, TOLD.commits(round.tokens.length, sameText(model)));
  return list;
}

/** What a verifier made of what it was given. @param {Call} call */
export function verdictOf(call) {
  const checks = call.tiles.filter((x) => x.what === "check");
  return {
    given: checks.length,
    kept: checks.filter((x) => x.judgement?.outcome === "accepted").length,
    struck: checks.find((x) => x.judgement?.outcome === "rejected") ?? null,
    own: call.tiles.find((x) => x.what === "own") ?? null,
  };
}

/** The tokens that plain decoding wrote at the round's places. @param {TraceModel} model @param {Round} round @returns {PlainWord[]} */
export function plainWords(model, round) {
  const { ids = [], token_ns: times = [] } = model.baseline ?? {};
  return round.tokens
    .filter(({ at }) => at < times.length)
    .map(({ at }) => ({ id: ids[at], at, ns: times[at] - (times[at - 1] ?? 0) }));
}

/** @param {TraceModel} model @param {Round} round @returns {Moment[]} */
function aloneMoments(model, round) {
  const plain = plainWords(model, round);
  /** @type {(what: What, nth: number, says: string) => Moment} */
  const at = (what, nth, says) => ({ scene: 2, what, at: round.t1, call: null, nth, says, lasts: MS[what] });
  return [
    at("alone", 0, TOLD.alone(plain.length)),
    ...plain.map((_, i) => at("one", i + 1, TOLD.one)),
    at("both", plain.length, TOLD.both(plain.length, plainTimeOf(model, plain), timeOf(model, round))),
  ];
}

/** The run as it went, and its end. @param {TraceModel} model @returns {Moment[]} */
function runMoments(model) {
  const { committed, baseline, end } = model;
  const gain = speedUp(model, end);
  const says = TOLD.ends(
    gain === null ? "" : stated("speed_up", ofRun(model.header), ratio(gain)),
    committed.length,
    sameText(model),
  );
  const lasts = Math.max(end - begunAt(model), baseline?.token_ns.at(-1) ?? 0) / 1e6;
  const one = { scene: 3, call: null, nth: 0 };
  return [
    { ...one, what: "runs", at: begunAt(model), says: TOLD.runs, lasts },
    { ...one, what: "ends", at: end, says, lasts: MS.ends },
  ];
}

/** When decoding began: prefill is over. @param {TraceModel} model */
export const begunAt = (model) => model.rounds[0]?.t0 ?? 0;

/** "a small draft", "an 8-bit copy": as names of stacks call it. @param {TraceModel} model @param {number} index */
function phraseOf({ levels }, index) {
  const forms = kindOf(levels[index].kind).said?.forms ?? [];
  return forms.find((form) => !form.includes("{"))?.replace(/[[\]]/g, "") ?? levels[index].name;
}
