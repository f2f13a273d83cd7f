/** The words that one needs to change a stack, each with what it means. */

import { term } from "../glossary/term.js";
import { h } from "../kit/dom.js";
import { KEY } from "../words/play/tower.js";

export const towerWords = () =>
  h(
    "ul",
    { class: "hx-tower-words", "aria-label": KEY.label },
    ...["block", "policy", "cache"].map((name) => h("li", {}, term(name))),
  );
