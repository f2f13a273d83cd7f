/** Plain decoding and the stack, token by token: what each wrote at every position, and how close the target's choice was. */

import { local } from "../../../../text/numbers.js";
import { h } from "../../../shared/kit/dom.js";
import { LINES } from "../../../../text/en/proof.js";

/** @import {Player} from "../../../shared/player/player.js"
 *  @import {TokenRecord} from "../../../shared/run/records.js"
 *  @import {TraceModel} from "../../../shared/run/trace.js" */

/** @typedef {{at: number, own: number|null, plain: number|null, same: boolean, margin: number|null, by: "plain"|"stack"|""}} Place
 *    ids; plain is null where it is not known. margin: of the target's two best logits; by: in whose pass it was read */
/** @typedef {{places: Place[], equal: number, first: number|null, margin: number|null, recorded: boolean, compared: boolean,
 *    smallest: number[]}} Lines first: where they differ first; recorded: plain ids and margins are in the trace;
 *    compared: the trace says how many ids agree; smallest: the places of the smallest margins, rising */

const MARKED = 5;

/** @param {TraceModel} model @returns {Lines} */
export function linesOf(model) {
  const { baseline, committed, tokens } = model;
  const top = model.levels.length - 1;
  const ids = baseline?.ids ?? [];
  const recorded = ids.length > 0;
  const equal = baseline?.equal ?? 0;
  const count = Math.max(committed.length, ids.length);
  /** @type {Place[]} */ const places = [];
  for (let at = 0; at < count; at++) {
    const record = tokens.get(committed[at]);
    const own = record?.id ?? null;
    const plain = recorded ? (ids[at] ?? null) : baseline && at < equal ? own : null;
    const given = baseline?.margins?.[at] ?? null;
    const read = given === null && record ? marginOf(record, top) : null;
    places.push({
      at,
      own,
      plain,
      same: own !== null && own === plain,
      margin: given ?? read,
      by: given !== null ? "plain" : read !== null ? "stack" : "",
    });
  }
  const smallest = places
    .filter((x) => x.margin !== null)
    .sort((a, b) => /** @type {number} */ (a.margin) - /** @type {number} */ (b.margin))
    .slice(0, MARKED)
    .map((x) => x.at);
  const first = baseline?.diverges ? equal : null;
  return { places, equal, first, margin: baseline?.margin ?? null, recorded, compared: Boolean(baseline), smallest };
}

const TIE = 1e-3; // logits, as hsd_core/trace/comparison.py has it

/** Whether two logits are so close that rounding may turn them round. @param {number} margin */
export const nearTie = (margin) => margin < TIE;

/** The difference of the two best logits of the target's row that a committed token was judged by, or drawn from.
 *  @param {TokenRecord} record @param {number} top */
export function marginOf(record, top) {
  const row = record.level === top ? record.drawn?.pRow : record.judgements.find((j) => j.level === top)?.pRow;
  const [first, second] = row?.probs ?? [];
  return second > 0 ? Math.log(first / second) : null;
}

// ---- Two lines of tokens, plain decoding above and the stack below: equal ones joined, small margins marked.

/** @param {TraceModel} model @param {Player} player */
export function linesView(model, player) {
  const { header, footer } = model;
  if (header?.levels.length === 1) return note(LINES.itself);
  const lines = linesOf(model);
  if (!lines.compared) return note(footer ? LINES.unmeasured : LINES.pending);
  const score = h("ol.hx-score", { "aria-label": LINES.label, tabindex: "0" });
  const cells = lines.places.map((place) => cell(model, lines, place));
  score.append(names(), ...cells);
  const marks = h("p.hx-proof-margins", [
    h("span.hx-an-muted", { text: LINES.margins, tabindex: "0", "data-tip": LINES.marginTip }),
  ]);
  for (const at of lines.smallest) {
    const { margin, by } = lines.places[at];
    const record = model.tokens.get(model.committed[at]);
    marks.append(
      h(
        "button.hx-quiet.hx-proof-margin",
        {
          "data-tip": LINES.marked(at, fine(margin), by),
          onclick: () => {
            cells[at].scrollIntoView({ block: "nearest" });
            for (const one of cells) one.classList.toggle("hx-score-here", one === cells[at]);
            if (record) player.seek(model.commitTimes[at]);
          },
        },
        [h("b", fine(margin)), h("span", model.pieceText(lines.places[at].own ?? lines.places[at].plain ?? -1))],
      ),
    );
  }
  return h("div.hx-proof-lines", [
    h("p.hx-proof-said", said(model, lines)),
    lines.smallest.length > 0 && marks,
    score,
    h("p.hx-an-note", [
      [reason(model, lines), LINES.tie, lines.recorded ? LINES.ids : LINES.notRecorded(lines.equal)].join(" ").trim(),
    ]),
  ]);
}

/** Why the two lines are the same, or are not. @param {TraceModel} model @param {Lines} lines */
function reason({ header, baseline }, lines) {
  if (header && !header.lossless) return LINES.lossy(header.lossless_reason);
  if (lines.first === null) return LINES.why;
  const margin = baseline?.margin ?? null;
  return margin === null || nearTie(margin) ? "" : LINES.wrong;
}

/** Two figures, however small: a near tie is what one looks for. */
const fine = (/** @type {number|null} */ x) => (x === null ? LINES.unknown : local(String(Number(x.toPrecision(2)))));

const note = (/** @type {string} */ text) => h("p.hx-proof-said", text);

function said(/** @type {TraceModel} */ model, /** @type {Lines} */ lines) {
  const count = model.committed.length;
  if (lines.first === null) return LINES.all(lines.equal);
  if (
    lines.margin === null &&
    lines.recorded &&
    lines.places[lines.first]?.plain !== null &&
    lines.places[lines.first]?.own !== null
  )
    return LINES.diverges(lines.equal, count, LINES.unknown);
  return lines.margin === null ? LINES.shorter(lines.equal) : LINES.diverges(lines.equal, count, fine(lines.margin));
}

const names = () =>
  h("li.hx-score-names", { "aria-hidden": "true" }, [h("span", LINES.plain), h("i"), h("span", LINES.stack)]);

/** @param {TraceModel} model @param {Lines} lines @param {Place} place */
function cell(model, lines, { at, own, plain, same, margin, by }) {
  const record = model.tokens.get(model.committed[at]);
  const level = record ? model.levels[record.level] : null;
  const word = (/** @type {number|null} */ id, /** @type {string} */ name) =>
    h("span.hx-score-token", {
      class: name,
      text: id === null ? "\u00b7\u00b7\u00b7" : model.pieceText(id) || "\u2205",
    });
  const below = word(own, "hx-score-own");
  if (level) {
    below.style.setProperty("--hue", level.hue);
    below.dataset.line = level.underline;
  }
  const el = h("li.hx-score-place", [word(plain, "hx-score-plain"), h("i", { "aria-hidden": "true" }), below]);
  el.dataset.same = same ? "1" : plain === null ? "" : "0";
  if (lines.first === at) el.dataset.first = "1";
  if (margin !== null) {
    el.dataset.tip = LINES.marked(at, fine(margin), by);
    const rank = lines.smallest.indexOf(at);
    if (rank >= 0) el.append(h("b.hx-score-margin", fine(margin)));
  }
  return el;
}
