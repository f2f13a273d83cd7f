/** The words that one needs to change a stack, each with what it means. */

import { term } from "../../../shared/glossary/term.js";
import { h } from "../../../shared/kit/dom.js";
import { KEY } from "../../../../text/en/tower.js";

export const towerWords = () =>
  h("ul.hx-tower-words", { "aria-label": KEY.label }, [
    ["block", "policy", "cache"].map((name) => h("li", term(name))),
  ]);
