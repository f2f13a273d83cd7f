/** The figures of many requests at once that lessons may name: `${requests|gain.32}`. As app/tabs/learn/many_requests.py
 *  gives them. */

import { REQUESTS as SAYS } from "../../../../text/en/requests.js";
import { as, called, ms, times, whole } from "./run-figures.js";

/** @import {Entry, ManyRequests} from "./run-figures.js" */

const MACHINES = ["here", "h100", "phone"];

/** ms of a pass of the target with so many rows of each of so many requests; undefined where it was not measured.
 *  @param {ManyRequests} of @param {number|string} load @param {number|string} rows @returns {number|undefined} */
export const passOf = (of, load, rows) => of.pass_ms[of.loads.indexOf(Number(load))]?.[of.rows.indexOf(Number(rows))];

/** @param {number|undefined} a @param {number|undefined} b */
const over = (a, b) => (a && b ? a / b : null);

const gained = (/** @type {ManyRequests} */ of, /** @type {string} */ load) =>
  of.gains.find((one) => one.load === Number(load));

/** A gain with its interval, or as a prediction. @param {ManyRequests} of @param {string} load */
function saidOf(of, load) {
  const found = gained(of, load);
  if (!found) return null;
  const [low, high] = found.interval.map(times);
  return of.measured ? SAYS.measured(times(found.speed_up), low, high) : SAYS.predicted(times(found.speed_up));
}

/** @type {Record<string, Entry<(of: ManyRequests, ...rest: string[]) => number|string|null|undefined>>} */
export const REQUESTS = {
  gain: [SAYS.tips.gain, times, (of, load) => gained(of, load)?.speed_up],
  said: [SAYS.tips.gain, as, (of, load) => saidOf(of, load)],
  low: [SAYS.tips.end, times, (of, load) => gained(of, load)?.interval[0]],
  high: [SAYS.tips.end, times, (of, load) => gained(of, load)?.interval[1]],
  pass: [SAYS.tips.pass, ms, passOf],
  times: [SAYS.tips.times, times, (of, load, rows) => over(passOf(of, load, rows), passOf(of, load, 1))],
  rows: [SAYS.tips.rows, whole, (_of, load, rows) => Number(load) * Number(rows)],
  crowd: [SAYS.tips.crowd, times, (of, load) => over(passOf(of, load, 1), passOf(of, 1, 1))],
  twice: [SAYS.tips.twice, whole, (of, name) => of.machines[MACHINES.indexOf(name)]?.twice],
  stack: [SAYS.tips.stack, called, (of) => of.gains[0]?.stack],
  machine: [SAYS.tips.machine, as, (of) => of.about.machine],
};
