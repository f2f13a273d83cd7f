/** What the tower's signs mean, in one line below it. */

import { h } from "./dom.js";

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
    { class: "hx-tower-key", "aria-label": "Legend of the tower" },
    entry(h("b", { text: "a" }), "share of the tokens from below that it accepted"),
    entry(h("b", { text: "ms" }), "of a call"),
    entry(h("b", { text: "\u2212 5 +" }), "T: handed up at most"),
    entry(bar, "KV cache: committed, tentative"),
  );
}
