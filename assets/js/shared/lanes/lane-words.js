/** The lanes in words: what the pointer is told of a block, and all of them as a table. */

import { passesText, ranText } from "../run/ran.js";
import { roundNumber } from "../kit/round-number.js";
import { duration, ratio } from "../../../text/numbers.js";
import { element } from "../kit/dom.js";
import { clockOf, lanesOf } from "../levels/overlap.js";
import { brought } from "../../systems/index.js";
import { CLOCKS, LANES } from "../../../text/en/lanes.js";

/** @import {Level, Segment, TraceModel} from "../run/trace.js" */

/** @param {Segment} s a block @param {Level} level */
export function tipLines(s, level) {
  const what = LANES.what[s.kind];
  const lines = [
    element("strong", "", `${level.tag} ${level.name}`),
    element("span", "", `${what}, ${duration(s.t1 - s.t0)}`),
  ];
  if (s.round !== null) lines.push(element("span", "", LANES.call(roundNumber(s.round), s.rows, s.probes)));
  else lines.push(element("span", "", LANES.prefill(s.rows)));
  if (s.kind === "draft") lines.push(element("span", "", LANES.drafts(s.tokensOut, s.sequences)));
  if (s.kind === "verify") lines.push(element("span", "", LANES.verifies(s.tokensIn, s.tokensOut, s.rejects)));
  for (const { line } of brought.calls) {
    const text = line(s.notes ?? {});
    if (text) lines.push(element("span", "", text));
  }
  if (s.vain) lines.push(element("span", "", LANES.vain(s.kind, s.vain)));
  if (typeof s.theta === "number") lines.push(element("span", "hx-lane-theta", LANES.theta(ratio(s.theta))));
  const ran = ranText(s);
  if (ran) lines.push(element("span", "hx-lane-ran", ran));
  return lines;
}

/** How much of the time lanes are at work, as the server worked it out; "" where one level works after another.
 *  @param {any} lanes figures of a snapshot, or null @param {TraceModel} model */
export function usedText(lanes, model) {
  if (!lanes) return "";
  const { target, both, gain, dropped, waste, lanes: all } = lanes;
  const [over, under, at, lost] = [target, lanes.below, both, waste].map(percent);
  const below = all
    ? namesBelow(model)
        .map((name, lane) => LANES.level(name, percent(all[lane])))
        .reverse()
        .join(", ")
    : LANES.below(under);
  return LANES.used({ target: over, below, both: at, gain: written("gain", gain), dropped, waste: lost, more: !!all });
}

/** What works on each lane below the target's, from the bottom up. @param {TraceModel} model @returns {string[]} */
function namesBelow({ header, levels }) {
  const lanes = lanesOf(header);
  const below = Array.from({ length: lanes.at(-1) ?? 0 }, (_, lane) => lane);
  return below.map((lane) =>
    levels
      .filter((_, i) => lanes[i] === lane)
      .map((level) => level.name)
      .join(" + "),
  );
}

/** The lanes as the rows of a table, for those who hear the page. @param {TraceModel} model */
export function summary(model) {
  const total = model.levels.map(() => ({ calls: 0, ns: 0, rows: 0 }));
  for (const s of model.segments) {
    if (s.kind === "prefill") continue;
    total[s.level].calls += 1;
    total[s.level].ns += s.t1 - s.t0;
    total[s.level].rows += s.rows;
  }
  const caption = element("caption", "", LANES.caption);
  const shared = model.segments.some((s) => s.ran?.length);
  const layers = (/** @type {number} */ i) => (shared ? [passesText(model.segments.filter((s) => s.level === i))] : []);
  const head = row("th", [...LANES.head, ...(shared ? [LANES.layers] : [])]);
  const lanes = model.snapshots.at(-1)?.lanes ?? null;
  const clock = CLOCKS[clockOf(model.header)];
  const used = lanes && [
    row("th", [clock?.name ?? "", LANES.share]),
    ...Object.entries(LANES.lane)
      .filter(([key]) => !(lanes.lanes && key === "below"))
      .map(([key, name]) => row("td", [key === "both" && lanes.lanes ? LANES.two : name, written(key, lanes[key])])),
    ...(lanes.lanes ? namesBelow(model) : []).map((name, lane) =>
      row("td", [LANES.atWork(name), percent(lanes.lanes[lane])]),
    ),
  ];
  return [
    caption,
    head,
    ...model.levels.map((x, i) =>
      row("td", [x.name, total[i].calls, total[i].rows, duration(total[i].ns), ...layers(i)]),
    ),
    ...(used ?? []),
  ];
}

/** @param {number|null|undefined} part */
const percent = (part) => (part == null ? "\u2013" : `${Math.round(100 * part)}\u2009%`);

const written = (/** @type {string} */ key, /** @type {number|null} */ value) =>
  key === "gain" ? (value === null ? "\u2013" : ratio(value)) : key === "dropped" ? String(value ?? 0) : percent(value);

function row(/** @type {"td"|"th"} */ tag, /** @type {unknown[]} */ values) {
  const line = element("tr", "");
  line.append(...values.map((x) => element(tag, "", String(x))));
  return line;
}
