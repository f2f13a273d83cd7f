/** Plain decoding and the stack, token by token: what each wrote at every position, and how close the target's choice was. */

/**
 * @typedef {{at: number, own: number|null, plain: number|null, same: boolean, margin: number|null, by: "plain"|"stack"|""}} Place
 *   ids; plain is null where it is not known. margin: of the target's two best logits; by: in whose pass it was read
 */
/**
 * @typedef {{places: Place[], equal: number, first: number|null, margin: number|null, recorded: boolean, compared: boolean,
 *   smallest: number[]}} Lines first: where they differ first; recorded: plain ids and margins are in the trace;
 *   compared: the trace says how many ids agree; smallest: the places of the smallest margins, rising
 */

const MARKED = 5;

/**
 * @param {import("../../../shared/run/trace.js").TraceModel} model
 * @returns {Lines}
 */
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

/**
 * The difference of the two best logits of the target's row that a committed token was judged by, or drawn from.
 * @param {import("../../../shared/run/records.js").TokenRecord} record @param {number} top
 */
export function marginOf(record, top) {
  const row = record.level === top ? record.drawn?.pRow : record.judgements.find((j) => j.level === top)?.pRow;
  const [first, second] = row?.probs ?? [];
  return second > 0 ? Math.log(first / second) : null;
}
