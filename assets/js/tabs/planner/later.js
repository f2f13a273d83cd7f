/** Parts of the Planner that are out of sight at first: their scripts are fetched when somebody opens them. */

import { h } from "../../shared/kit/dom.js";
import { PLANNER } from "../../../text/en/planner.js";

/** @template {{el: Element, wake?: () => void}} P
 *  @param {() => Promise<P>} make fetches and makes it
 *  @param {Element} place stands where it will be @param {() => boolean} [asked] whether it is to be seen */
export function later(make, place = h("div"), asked) {
  let el = place;
  const open = asked ?? (() => Boolean(el.closest("details")?.open));
  /** @type {P|null} */ let part = null;
  /** @type {Promise<P>|null} */ let coming = null;
  /** @type {((part: P) => void)|null} */ let told = null;

  async function wake() {
    if (!open()) return;
    try {
      const found = await (coming ??= make());
      if (!part) {
        part = found;
        el.replaceWith(part.el);
        el = part.el;
        told?.(part);
      }
      part.wake?.();
    } catch {
      coming = null; // it is fetched again when it is opened again
      el.replaceChildren(h("p.hx-plan-text", PLANNER.unreachable));
    }
  }

  return {
    get el() {
      return el;
    },
    /** It may have come into sight. */
    wake,
    /** What it shows: now, or when it is there; the last thing told counts. @param {(part: P) => void} show */
    tell(show) {
      told = show;
      if (part) show(part);
    },
  };
}
