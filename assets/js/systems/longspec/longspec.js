/** Drafts with a window of keys and values of their own, who borrow the target's last layer beside it. */

import { bring } from "../index.js";

const SINK = 4; // positions at the beginning of the text, beside the window

bring({
  sights: [
    {
      of(model, { level, total, cached }) {
        const { kind, params } = model.levels[level];
        const window = kind === "nano" ? Number(params?.window ?? 0) : 0;
        return window ? { stretches: windowed(cached ?? total, window), slots: window, heads: 1, borrows: true } : null;
      },
    },
  ],
});

/** @param {number} end @param {number} window @returns {import("../index.js").Stretch[]} */
function windowed(end, window) {
  const first = Math.max(SINK, end - (window - SINK));
  /** @type {import("../index.js").Stretch[]} */
  const both = [
    { lo: 0, hi: Math.min(SINK, end), share: 1, kind: "sink" },
    { lo: first, hi: end, share: 1, kind: "recent" },
  ];
  return both.filter((one) => one.lo < one.hi);
}
