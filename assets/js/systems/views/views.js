/** Views of the target's cache: what one holds of it, for the strips of the anatomy. */

import { bring } from "../index.js";

/** @import {Chosen} from "../../shared/run/events.js" @import {Kind, Stretch} from "../index.js" */

bring({
  sights: [
    {
      of(model, { level, at, total }) {
        const told = model.reports.filter((one) => one.level === level && one.notes?.chosen && Number(one.t1) <= at);
        const view = told.at(-1)?.notes?.chosen;
        if (!view) return null;
        return { stretches: viewed(view, total), slots: view.slots, heads: view.heads, borrows: false };
      },
    },
  ],
});

/** @param {Chosen} view @param {number} total @returns {Stretch[]} */
function viewed(view, total) {
  /** @type {Stretch[]} */ const stretches = [];
  const whole = (/** @type {{heads: number}} */ one) => one.heads === view.heads;
  view.held.forEach((one, i) => {
    /** @type {Kind} */
    const kind =
      one.lo === 0 && whole(one) ? "sink" : one.hi === view.upto && whole(one) && i > 0 ? "recent" : "chosen";
    stretches.push({ lo: one.lo, hi: one.hi, share: one.heads / view.heads, kind });
  });
  if (total > view.upto) stretches.push({ lo: view.upto, hi: total, share: 1, kind: "since" });
  return stretches;
}
