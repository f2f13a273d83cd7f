/** The parts of the picture of many requests: a side with its tokens/s, the result in a sentence, the table of passes. */

import { h, say } from "../../shared/kit/dom.js";
import { badge } from "../../shared/levels/badge.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { LOAD, SAID } from "../../../text/en/race.js";
import { lanesOfRequests } from "./request-lanes.js";

/** @import {Batches, Counted} from "./batches.js" */

/** A side: its name, tokens/s in sum, and the picture. @param {number} side @param {(request: number) => void} onChoose */
export function panel(side, onChoose) {
  const name = h("h3.hx-race-name");
  const rate = h("b.hx-race-gain");
  const gain = h("b");
  const came = h("span");
  const picture = lanesOfRequests(side, onChoose);
  const el = h("section.hx-load-side", [
    h("header.hx-load-head", [
      name,
      h("p.hx-load-rate", { tabindex: "0", "data-tip": LOAD.rateTip }, [rate, h("span", LOAD.unit), gain, came]),
    ]),
    picture.el,
  ]);
  return {
    el,
    /** @param {Batches} batches */
    draw(batches) {
      const { head } = batches;
      const names = stackNames(head?.stacks ?? []);
      const called = names.get(head?.stacks[side] ?? "") ?? "";
      const { levels } = batches.sides[side];
      name.replaceChildren(h("span.hx-race-badges", { "aria-hidden": "true" }, levels.map(badge)), called);
      el.setAttribute("aria-label", called);
      picture.draw(batches, batches.end);
      const passes = batches.sides[side].counted().flatMap(([n, , rows], level) => {
        return n ? [LOAD.passes(levels[level].name, Math.round(n), SAID.rate(rows / n))] : [];
      });
      picture.el.setAttribute("aria-label", LOAD.picture(called, passes));
    },
    /** @param {Batches} batches @param {number} cursor @param {number} request */
    update(batches, cursor, request) {
      const [plain, own] = [batches.sides[0], batches.sides[side]].map((one) => one.rateAt(cursor));
      say(rate, SAID.rate(own));
      const over = cursor >= batches.end && batches.whole;
      say(gain, side && over && plain && own ? LOAD.gain(SAID.gain(own / plain)) : "");
      say(came, LOAD.tokens(batches.sides[side].tokensBy(cursor)));
      picture.update(cursor, request);
    },
  };
}

/** tokens/s in sum. @param {Counted} batch */
const rateOf = ({ together, ns }) => (together * 1e9) / ns;

/** @param {[Counted, Counted]} repeat */
export const gainOf = ([plain, own]) => rateOf(own) / rateOf(plain);

/** What came out, in a sentence. @param {Batches} batches */
export function result({ head }) {
  const repeat = head?.repeats[head.shown];
  if (!head || !repeat) return "";
  return LOAD.result(
    head.load,
    repeat.map((batch) => SAID.rate(rateOf(batch))),
    SAID.gain(gainOf(repeat)),
  );
}

/** The passes of both batches, level by level. @param {HTMLTableElement} table @param {Batches} batches */
export function tabulate(table, batches) {
  const names = stackNames(batches.head?.stacks ?? []);
  const rows = batches.sides.flatMap((side, i) =>
    side.counted().flatMap(([passes, ms, rows, requests], level) => {
      if (!passes) return [];
      const cells = [Math.round(passes), ...[ms, rows, requests].map((sum) => SAID.rate(sum / passes))];
      return h("tr", [
        h("th", { scope: "row" }, `${names.get(batches.head?.stacks[i] ?? "")}: ${side.levels[level].name}`),
        ...cells.map((cell) => h("td", String(cell))),
      ]);
    }),
  );
  table.replaceChildren(
    h(
      "thead",
      h(
        "tr",
        LOAD.columns.map((text) => h("th", { scope: "col" }, text)),
      ),
    ),
    h("tbody", rows),
  );
}
