/** The lanes in words: what the pointer is told of a block, and all of them as a table. */

import { passesText, ranText } from "../run/ran.js";
import { roundNumber } from "../kit/round-number.js";
import { duration } from "../words/numbers.js";
import { element } from "../kit/dom.js";
import { LANES } from "../words/play/lanes.js";

/** @param {any} s a block @param {any} level */
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
  if (s.vain) lines.push(element("span", "", LANES.vain(s.kind, s.vain)));
  if (typeof s.theta === "number") lines.push(element("span", "hx-lane-theta", LANES.theta(s.theta.toFixed(2))));
  const ran = ranText(s);
  if (ran) lines.push(element("span", "hx-lane-ran", ran));
  return lines;
}

/** The lanes as the rows of a table, for those who hear the page. */
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
  const layers = (i) => (shared ? [passesText(model.segments.filter((s) => s.level === i))] : []);
  const head = row("th", [...LANES.head, ...(shared ? [LANES.layers] : [])]);
  return [
    caption,
    head,
    ...model.levels.map((x, i) =>
      row("td", [x.name, total[i].calls, total[i].rows, duration(total[i].ns), ...layers(i)]),
    ),
  ];
}

function row(tag, values) {
  const line = element("tr");
  line.append(...values.map((x) => element(tag, "", String(x))));
  return line;
}
