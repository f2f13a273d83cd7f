/** Levels that work at the same time: when a result was looked at, and what was drafted in vain meanwhile. */

/** Whether a run's levels work at the same time. @param {{overlap?: string}|null} header */
export const overlaps = (header) => (header?.overlap ?? "none") !== "none";

/** On which lane each level of a run works, counted from the bottom: the target has one, and what is below it another where
 *  nothing else is said. @param {{overlap?: string, levels?: readonly {lane?: number}[]}|null} header @returns {number[]} */
export const lanesOf = (header) =>
  (header?.levels ?? []).map(({ lane }, i, all) => lane ?? Number(overlaps(header) && i === all.length - 1));

/** How many lanes a run has. @param {Parameters<typeof lanesOf>[0]} header */
export const lanesUsed = (header) => Math.max(overlaps(header) ? 1 : 0, ...lanesOf(header)) + 1;

/** Whose clock a run's times are of; "" where one level works after another, as it was measured.
 *  @param {{overlap?: string, simulated?: any}|null} [header] @returns {""|"reckoned"|"real"|"simulated"} */
export const clockOf = (header) =>
  header?.simulated ? "simulated" : overlaps(header ?? null) ? /** @type {any} */ (header)?.overlap : "";

/**
 * An event of such a run as one clock sees it: what came out of a pass counts when the verdict that waited for it falls,
 * which is no earlier than what was told before. `over`: when the pass itself was over.
 * @param {any} event @param {number} end the last time told (ns)
 */
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
