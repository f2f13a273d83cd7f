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
  /** @type {Map<keyof P, any[]>} */ const told = new Map();

  /** @param {P} to @param {keyof P} name @param {any[]} given */
  const call = (to, name, given) => /** @type {any} */ (to)[name](...given);

  async function wake() {
    if (!open()) return;
    try {
      const found = await (coming ??= make());
      if (!part) {
        part = found;
        el.replaceWith(part.el);
        el = part.el;
        for (const [name, given] of told) call(part, name, given);
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
    /** Calls a method of it: now, or when it is there, each with what it was last told. @param {keyof P} name @param {any[]} given */
    tell(name, ...given) {
      if (part) call(part, name, given);
      else told.set(name, given);
    },
  };
}
