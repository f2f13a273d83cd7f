/** The help: how to read every part of the page, its keys, and whose name it bears. */

import { h } from "../../../shared/kit/dom.js";
import { brought } from "../../../systems/index.js";
import { NAME, NAME_TITLE, PARTS } from "../../../../text/en/help.js";

export function helpPanel() {
  /** @type {[string, string][]} */ const own = brought.desks.map(({ key, help }) => [key.toUpperCase(), help]);
  const last = PARTS.length - 1; // the keys
  return h(
    "div",
    { class: "hx-help", tabindex: "0", role: "region" },
    ...PARTS.flatMap(([title, entries], i) => [
      h("h2", { text: title }),
      h(
        "dl",
        {},
        ...[...entries, ...(i === last ? own : [])].flatMap(([name, text]) => [
          h("dt", { text: name }),
          h("dd", { text }),
        ]),
      ),
    ]),
    h("h2", { text: NAME_TITLE }),
    h("p", { text: NAME }),
  );
}
