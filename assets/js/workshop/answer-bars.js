/** The answers to one question as bars: how many browsers gave which, and nobody's name. */

import { h } from "../shared/kit/dom.js";
import { WORKSHOP } from "../../text/en/workshop.js";

/** @import {Question, Step} from "../tabs/learn/figures/run-figures.js" @import {Tally} from "./room.js" */

/** The rows of a tally: what each is of, and how many.
 *  @param {Tally} tally @param {Question|undefined} question of the lesson, null where it is not known @returns {[string, number][]} */
export function rowsOf({ counts, bins }, question) {
  if (counts) return counts.map((count, i) => [plain(question?.choices?.[i]?.text) || WORKSHOP.choice(i + 1), count]);
  const unit = question?.number?.unit ?? "";
  return (bins ?? []).map(({ from, to, count }) => [WORKSHOP.bin(from, to, unit), count]);
}

/** A lesson's text without its marks. @param {string|undefined} text */
export const plain = (text) => (text ?? "").replace(/\[([A-Z]\d?)\]/g, "$1").replace(/[`*]/g, "");

/** @param {Tally} tally @param {Step|null} step of the lesson, null where it is not known */
export function barsOf(tally, step) {
  const question = step?.question;
  const rows = rowsOf(tally, question);
  // A question with figures of a run, which the lesson fills in, goes by its step's title.
  const asked = (/\$/.test(question?.ask ?? "") ? step?.title : plain(question?.ask)) || WORKSHOP.answersTo(tally.step);
  const most = Math.max(1, ...rows.map(([, count]) => count));
  return h("div.hx-room-tally", [
    h("p.hx-room-asked", asked),
    h("dl.hx-room-rows", [
      rows.flatMap(([name, count]) => [
        h("dt", name),
        h("dd", [
          h("i", { "aria-hidden": "true", style: { "inline-size": `${(100 * count) / most}%` } }),
          h("b", WORKSHOP.share(count, tally.total)),
        ]),
      ]),
    ]),
    h("p.hx-room-total", WORKSHOP.answered(tally.total)),
  ]);
}
