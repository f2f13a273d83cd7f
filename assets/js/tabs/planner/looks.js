/** What the page looks like, as far as figures are made for it: light or dark, a phone, a screen or a wall. */

import { isDark } from "../../shared/kit/theme.js";

const SETTLE_MS = 250; // a window that is being dragged is not asked about
const [PHONE, WALL] = [700, 1800]; // px of the page, as in planner.css

const size = () => (innerWidth < PHONE ? "phone" : innerWidth < WALL ? "screen" : "wall");

export const look = () => `${size()} ${isDark()}`;

/** Calls back when the page looks otherwise than `drawn` says. @param {() => string|null} drawn null: nothing was drawn @param {() => void} onOther */
export function watchLook(drawn, onOther) {
  const other = () => {
    const was = drawn();
    if (was !== null && was !== look()) onOther();
  };
  let settling = 0;
  new MutationObserver(other).observe(document.body, { attributeFilter: ["class"] });
  addEventListener("resize", () => {
    clearTimeout(settling);
    settling = setTimeout(other, SETTLE_MS);
  });
}
