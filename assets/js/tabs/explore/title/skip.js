/** Links at the page's start that Tab reaches first: past the tab bar and the prompt, to what one came for. */

import { h } from "../../../shared/kit/dom.js";
import { SKIP } from "../../../../text/en/page.js";

const CONTROL = "a[href], button, input, select, textarea, summary, [tabindex='0']";
/** @type {[string, string][]} by name: what takes the focus; one that is not in sight is not offered */
const PLACES = [
  [SKIP.playback, ".hx-transport-play"],
  [SKIP.text, ".hx-flow [tabindex='0']"],
  [SKIP.tower, ".hx-tower select"],
  [SKIP.tab, `[role="tabpanel"] .hx-stage :is(${CONTROL})`],
];

const inSight = (/** @type {string} */ selector) =>
  [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector))].find((one) =>
    one.checkVisibility(),
  );

export function skipLinks() {
  const links = PLACES.map(([name, selector]) =>
    h("button", { type: "button", text: name, onclick: () => inSight(selector)?.focus() }),
  );
  const offer = () => PLACES.forEach(([, selector], i) => (links[i].hidden = !inSight(selector)));
  document.body.prepend(h("nav", { class: "hx-skip", "aria-label": SKIP.name }, ...links));
  // Before the key moves the focus: which places there are changes with the tab.
  document.addEventListener("keydown", (event) => event.key === "Tab" && offer(), { capture: true });
}
