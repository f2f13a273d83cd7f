/** Levels that work at the same time: when a result was looked at, and what was drafted in vain meanwhile. */

/** @typedef {{levels?: readonly {lane?: number}[], reckoned?: boolean, simulated?: unknown}|null} Header */

/** The lane of each level, counted from the bottom. @param {Header} header @returns {number[]} */
export const lanesOf = (header) => (header?.levels ?? []).map(({ lane }) => lane ?? 0);

/** How many lanes a run has. @param {Header} header */
export const lanesUsed = (header) => Math.max(0, ...lanesOf(header)) + 1;

/** Whether a run's levels work at the same time. @param {Header} header */
export const overlaps = (header) => lanesUsed(header) > 1;

/** Where a run's times come from; "" where one level works after another, as it was measured.
 *  @param {Header} [header] @returns {""|"reckoned"|"real"|"simulated"} */
export function clockOf(header = null) {
  if (header?.simulated) return "simulated";
  if (!overlaps(header)) return "";
  return header?.reckoned ? "reckoned" : "real";
}

/** An event of such a run as one clock sees it: what came out of a pass counts when the verdict that waited for it falls,
 *  which is no earlier than what was told before. `over`: when the pass itself was over.
 *  @param {any} event @param {number} end the last time told (ns) */
export const taken = (event, end) =>
  "t1" in event ? { ...event, t1: Math.max(event.t1, end), over: event.t1 } : event;

/** Marks the drafts of tokens that fell with a rejected one before anybody judged them: how many of each.
 *  @param {{serials?: number[], wrote?: number, vain?: number}[]} segments @param {readonly number[]} serials */
export function inVain(segments, serials) {
  const lost = new Set(serials);
  for (let i = segments.length - 1; i >= 0 && lost.size; i--) {
    const segment = segments[i];
    const own = [...(segment.serials ?? []), segment.wrote ?? -1].filter((serial) => lost.delete(serial)).length;
    if (own) segment.vain = (segment.vain ?? 0) + own;
  }
}
