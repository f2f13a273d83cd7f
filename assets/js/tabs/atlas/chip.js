/** A system by its sign and name, which lead to its card: on the map, and among a card's neighbours. */

import { h } from "../../shared/kit/dom.js";
import { leadsTo } from "./atlas-place.js";
import { exactly, runsHere } from "./by-question.js";
import { signOf } from "./sign.js";
import { ATLAS } from "../../../text/en/atlas.js";

/** @param {import("./by-question.js").System} system @param {(id: string) => void} onOpen @returns {HTMLElement} */
export function chipOf(system, onOpen) {
  const built = runsHere(system);
  const chip = h(
    "a",
    { class: "hx-atlas-one", "data-tip": system.idea, "data-built": built },
    signOf(system),
    h("span", { class: "hx-atlas-name", text: system.name }),
    exactly(system) === "no" ? lossy() : null,
    built === "true"
      ? null
      : h("span", { class: "hx-sr", text: `, ${built === "first" ? ATLAS.legend.first : ATLAS.legend.not}` }),
  );
  return leadsTo(chip, system.id, onOpen);
}

/** The mark of a system whose text may differ. */
const lossy = () =>
  h(
    "span",
    { class: "hx-atlas-lossy" },
    h("span", { "aria-hidden": "true", text: "\u2248" }),
    h("span", { class: "hx-sr", text: `, ${ATLAS.legend.lossy}` }),
  );
