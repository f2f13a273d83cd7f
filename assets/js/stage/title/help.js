/** The help: how to read every part of the page, its keys, and whose name it bears. */

import { h } from "../../kit/dom.js";
import { NAME, NAME_TITLE, PARTS } from "../../words/help.js";

export function helpPanel() {
  return h(
    "div",
    { class: "hx-help", tabindex: "0", role: "region" },
    ...PARTS.flatMap(([title, entries]) => [
      h("h2", { text: title }),
      h("dl", {}, ...entries.flatMap(([name, text]) => [h("dt", { text: name }), h("dd", { text })])),
    ]),
    h("h2", { text: NAME_TITLE }),
    h("p", { text: NAME }),
  );
}
