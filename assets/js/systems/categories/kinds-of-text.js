/** What the Planner shows of kinds of text: a sentence, and a table of their acceptances and best block lengths. Asked for
 *  when it is opened. */

import { h, say } from "../../shared/kit/dom.js";
import { CATEGORIES } from "./words.js";
import { bring } from "../index.js";

/** @typedef {{category: string, prompts: number, acceptance: (number|null)[], stack: string, speed_up: number, usual: number}} Row
 *  @typedef {{stack: string, counted: string, rows: Row[]}} Answer */

/** @param {{onAsk: (question: any) => void, onUse: (stack: string) => void}} ctx */
function kindsOfText(ctx) {
  /** @type {any} */ let wanted = null; // a question that was not asked yet
  const answer = h("p.hx-plan-text", { role: "status", "aria-live": "polite", text: CATEGORIES.asking });
  const note = h("p.hx-plan-text");
  const table = h("div.hx-figure-scroll", { tabindex: "0", role: "group", "aria-label": CATEGORIES.table });
  const el = h("section.hx-panel", { "aria-label": CATEGORIES.label }, [answer, h("div.hx-figure-data", table), note]);

  function ask() {
    if (!wanted || !el.closest("details")?.open) return;
    const question = wanted;
    wanted = null;
    ctx.onAsk(question);
  }

  return {
    el,
    wake: ask,
    /** The profile's numbers have changed. @param {any} question */
    stale(question) {
      wanted = question;
      ask();
    },
    /** @param {Answer} heard */
    show(heard) {
      say(answer, headline(heard));
      say(note, CATEGORIES.note(heard.counted));
      table.replaceChildren(kindsTable(heard, ctx.onUse));
      el.dataset.ready = heard.stack;
    },
    /** @param {string} text */
    refuse(text) {
      say(answer, text);
      say(note, "");
      table.replaceChildren();
    },
  };
}

/** The kinds with the largest and the smallest gain. @param {Answer} heard */
function headline({ rows, stack }) {
  const order = [...rows].sort((one, other) => other.speed_up - one.speed_up);
  const [easy, hard] = [order[0], order[order.length - 1]];
  if (rows.every((row) => row.stack === stack)) return CATEGORIES.same(stack);
  return CATEGORIES.answer(easy.category, easy.stack, hard.category, hard.stack);
}

/** @param {Answer} heard @param {(stack: string) => void} onUse */
function kindsTable({ rows, stack }, onUse) {
  const share = (/** @type {number|null} */ x) => (x === null ? "-" : CATEGORIES.share(x));
  const row = (/** @type {Row} */ one) =>
    h("tr", [
      h("th", { scope: "row", text: one.category }),
      h("td", one.acceptance.slice(1).map(share).join(" / ")),
      h("td", [
        h("code.hx-plan-count", one.stack),
        " ",
        h("button.hx-quiet.hx-plan-small", {
          text: CATEGORIES.use,
          "aria-label": `${CATEGORIES.use}: ${one.stack}`,
          "data-tip": CATEGORIES.useTip(one.category),
          onclick: () => onUse(one.stack),
        }),
      ]),
      h("td", CATEGORIES.times(one.speed_up)),
      h("td", CATEGORIES.times(one.usual)),
    ]);
  return h("table", [
    h("caption.hx-sr", CATEGORIES.table),
    h("thead", [h("tr", [CATEGORIES.head(stack).map((text) => h("th", { scope: "col", text }))])]),
    h("tbody", rows.map(row)),
  ]);
}

bring({ questions: [{ name: "categories", behind: /** @type {any} */ (CATEGORIES.behind), create: kindsOfText }] });
