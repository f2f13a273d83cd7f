/** A moment of a run as an address names it, ROUND.EVENT: the round counted from 1, and how many events of it
 *  have happened. Both stay what they are when the same run is recorded on a quicker machine; its times do not. */

import { upTo } from "../kit/order.js";
import { placeOfNumber, roundNumber } from "../kit/round-number.js";

/** @typedef {import("../run/trace.js").TraceModel} TraceModel */

/** The moment under a cursor (ns). @param {TraceModel} model @param {number} cursor */
export function momentOf(model, cursor) {
  const last = model.marks[upTo(model.marks, cursor, (mark) => mark.t) - 1];
  if (!last) return "1.0";
  const happened = model.marks.filter((mark) => mark.round === last.round && mark.t <= cursor).length;
  return `${roundNumber(last.round)}.${happened}`;
}

/**
 * When a moment is: {ns, exact}; the nearest one there is, where the run has none of that name; null for no moment.
 * @param {TraceModel} model
 * @param {string} text
 * @returns {{ns: number, exact: boolean}|null}
 */
export function momentAt(model, text) {
  const found = /^(\d{1,7})(?:\.(\d{1,5}))?$/.exec(text);
  if (!found || !model.rounds.length) return null;
  const [number, count] = [Number(found[1]), Number(found[2] ?? 0)];
  const place = Math.min(Math.max(0, placeOfNumber(number)), model.rounds.length - 1);
  const round = model.rounds[place];
  const times = model.marks.filter((mark) => mark.round === round.round).map((mark) => mark.t);
  const exact = roundNumber(place) === number;
  const reached = roundNumber(place) < number ? times.length : Math.min(count, times.length);
  return { ns: times[reached - 1] ?? round.t0, exact: exact && reached === count };
}

/**
 * The token at a position of the text, as its card counts: {serial, ns, exact}, ns when it was committed; the last one
 * where the text is shorter; null where there is none.
 * @param {TraceModel} model
 * @param {string} text
 */
export function tokenAt(model, text) {
  if (!/^\d{1,7}$/.test(text) || !model.committed.length) return null;
  const place = Math.min(Number(text), model.committed.length - 1);
  return { serial: model.committed[place], ns: model.commitTimes[place], exact: place === Number(text) };
}
