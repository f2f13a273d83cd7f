/** No profile at all: how to get one. */

import { h } from "../../shared/kit/dom.js";
import { PLANNER } from "../../../text/en/planner.js";

/** @param {{sources: import("./profile/profile.js").Source[], how: string}} found */
export function noProfile({ sources, how }) {
  const broken = sources
    .filter((source) => source.reason)
    .map((source) => h("p", { class: "hx-plan-text", text: `${source.title}: ${source.reason}` }));
  return [
    h("h2", { class: "hx-plan-h", text: PLANNER.noProfile }),
    h("p", { text: PLANNER.whatProfile }),
    h("p", {}, PLANNER.measureOne[0], h("code", { text: how }), PLANNER.measureOne[1]),
    ...broken,
  ];
}
