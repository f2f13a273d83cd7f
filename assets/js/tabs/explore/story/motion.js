/** The story's movements: a quarter of a second, easing out, then stillness. With reduced motion there are none. */

const MS = 240;
const EASE = "cubic-bezier(0.2, 0.8, 0.2, 1)";

/** Whether the visitor wants none. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Moves an element from where something else is, or was, to its place. @param {Element} el @param {DOMRect} from @param {number} delay ms */
export function fly(el, from, delay) {
  const to = el.getBoundingClientRect();
  if (still() || !to.width || !from.width) return;
  const scale = Math.min(2, from.height / to.height);
  const [x, y] = [from.left - to.left, from.top - to.top];
  const start = { transform: `translate(${x}px, ${y}px) scale(${scale})`, transformOrigin: "0 0" };
  el.animate([start, { transform: "none", transformOrigin: "0 0" }], {
    ...{ duration: MS, delay, easing: EASE, fill: "backwards" },
  });
}

/** Lets elements appear. @param {Element|Iterable<Element>} els @param {number} delay ms */
export function shown(els, delay) {
  if (still()) return;
  for (const el of els instanceof Element ? [els] : els)
    el.animate(
      [
        { opacity: 0, transform: "translateY(8px)" },
        { opacity: 1, transform: "none" },
      ],
      {
        ...{ duration: MS, delay, easing: EASE, fill: "backwards" },
      },
    );
}
