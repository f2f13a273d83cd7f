/** The map and its drafters as tables. */

import { h } from "../../shared/kit/dom.js";
import { nameOfStack, stackNames } from "../../shared/levels/stack-names.js";
import { SECOND } from "./words.js";
import { rounded } from "../../../text/numbers.js";
import { bandOf, paysAt, together } from "./map-reading.js";

const EVERY = { share: 5, agreement: 4 }; // of the places of the map, one in so many

/** @typedef {import("./map-reading.js").Drafter} Drafter @typedef {import("./map-reading.js").GainMap} GainMap */

/** @param {Drafter[]} drafters @param {(place: number) => void} onShow one is to be shown on the map */
export function drafterTable(drafters, onShow) {
  const stacks = drafters.flatMap((one) => [one.apart.stack, together(one).stack]);
  const called = stackNames(stacks);
  const row = (/** @type {Drafter} */ one, /** @type {number} */ i) => {
    const two = together(one);
    const pays = paysAt(one.gain);
    const show = h("button", {
      type: "button",
      class: "hx-quiet hx-plan-small",
      text: one.name,
      "aria-label": SECOND.show(one.name),
      onclick: () => onShow(i),
    });
    return h(
      "tr",
      { "data-pays": pays },
      h("th", { scope: "row" }, show),
      h("td", { text: SECOND.times(one.gain) }),
      h("td", { text: [SECOND.verdicts[pays], one.needs ? SECOND.pricedOnly : ""].filter(Boolean).join(", ") }),
      h("td", { text: SECOND.percent(one.share) }),
      h("td", { text: SECOND.percent(one.agreement) }),
      h("td", {}, h("span", { text: SECOND.ms(rounded(one.apart.ms)) }), " ", nameOfStack(one.apart.stack, called)),
      h("td", {}, h("span", { text: SECOND.ms(rounded(two.ms)) }), " ", nameOfStack(two.stack, called)),
      h("td", { text: two === one.pearl ? SECOND.lockStep : SECOND.free }),
    );
  };
  return table(SECOND.drafters, SECOND.drafterHead, drafters.map(row));
}

/** Some of the map's gains: agreements downwards, shares to the right. @param {GainMap} map */
export function gainTable({ shares, agreements, gains }) {
  const across = shares.map((_, i) => i).filter((i) => i === 0 || (i + 1) % EVERY.share === 0);
  const down = agreements.map((_, i) => i).filter((i) => i % EVERY.agreement === 0);
  const row = (/** @type {number} */ i) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", text: SECOND.percent(agreements[i]) }),
      ...across.map((j) =>
        h("td", { "data-band": bandOf(gains[i][j]), "data-row": i, "data-at": j, text: gains[i][j].toFixed(2) }),
      ),
    );
  const head = [SECOND.corner, ...across.map((j) => SECOND.percent(shares[j]))];
  return table(SECOND.map, head, down.toReversed().map(row));
}

/** @param {string} caption @param {string[]} head @param {HTMLElement[]} rows */
const table = (caption, head, rows) =>
  h(
    "table",
    {},
    h("caption", { class: "hx-sr", text: caption }),
    h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col", text })))),
    h("tbody", {}, ...rows),
  );
