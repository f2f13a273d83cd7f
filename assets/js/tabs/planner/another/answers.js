/** Where the question "is another level worth it?" is answered: by the server's planner, or from a grid of its answers that
 *  was made ahead, for a page without a server. Both are asked alike, and say the same. */

import { Asker } from "./asker.js";

/** @typedef {{name: string, spec: string}} AskedLevel
 *  @typedef {{speedup: number, stack: string}} PricedPlan
 *  @typedef {{share: number, fewer: PricedPlan, more: PricedPlan}} CostPoint
 *  @typedef {{levels: AskedLevel[], share: number, agreement: number, agreements: number[], at: number,
 *    points: CostPoint[], crossings: number[], runs: boolean}} Curve hsd_core/theory/search/another_level.py
 *  @typedef {import("./asker.js").Question} Question agreement: null for the profile's own
 *  @typedef {{onAnswer: (curve: Curve, question: Question) => void, onRefusal: (text: string) => void}} Hear
 *  @typedef {{ask: (question: Question) => void|Promise<void>}} Answers */

/** @param {string} url @param {Hear} hear @returns {Answers} */
export const askedOfServer = (url, hear) => new Asker(url, hear);

/** @param {(question: Question) => Promise<Curve[]|null>} curves of a profile, at some agreements, its own first
 *  @param {Hear} hear @param {string} none what is said of a profile of which there are none @returns {Answers} */
export const madeAhead = (curves, hear, none) => ({
  async ask(question) {
    const grid = await curves(question).catch(() => null);
    if (!grid) return hear.onRefusal(none);
    const asked = question.agreement ?? grid[0].agreement;
    const off = (/** @type {Curve} */ one) => Math.abs(one.at - asked);
    return hear.onAnswer(
      grid.reduce((a, b) => (off(b) < off(a) ? b : a)),
      question,
    );
  },
});
