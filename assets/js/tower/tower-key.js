/** What the tower's signs mean, in one line below it. */

import { h } from "../kit/dom.js";
import { KEY } from "../words/play/tower.js";

export function towerKey() {
  const bar = h(
    "span",
    { class: "hx-kv hx-key-bar" },
    h("i", { class: "hx-kv-committed" }),
    h("i", { class: "hx-kv-held" }),
  );
  const entry = (sign, text) => h("li", {}, sign, h("span", { text }));
  return h(
    "ul",
    { class: "hx-tower-key", "aria-label": KEY.label },
    entry(h("b", { text: "a" }), KEY.keeps),
    entry(h("b", { text: "ms" }), KEY.call),
    entry(h("b", { text: "\u2212 5 +" }), KEY.block),
    entry(bar, KEY.cache),
  );
}
