/** The card of a system: its drawing, its idea, the paper's figure beside ours, why it is exact or not, where it pays, and
 *  what it shares with others. */

import { h } from "../../shared/kit/dom.js";
import { nameOfStack, stackName } from "../../shared/levels/stack-names.js";
import { ofBench, ofRun, stated } from "../../shared/levels/stated.js";
import { percent } from "../../shared/run/spared.js";
import { beside, exactly, neighbours } from "./by-question.js";
import { chipOf, COLUMNS, paperLink, ROWS } from "./map.js";
import { shapePicture } from "./shape-picture.js";
import { shapeSaid } from "./shape.js";
import { brought } from "../../systems/index.js";
import { ratio } from "../../../text/numbers.js";
import { HOW, SYSTEM, WHO } from "../../../text/en/atlas.js";
import { PRICE } from "../../../text/en/run.js";

/** @import {Ours, System} from "./by-question.js" */

/** @typedef {{onOpen: (id: string) => void, onBack: () => void, onUse: (system: System) => void,
 *   onWatch: (recording: string) => void}} Ctx */

/** @param {System} system @param {System[]} systems all @param {System[]} list those that the arrows lead through, in their order
 *  @param {Ctx} ctx @returns {{el: HTMLElement, title: HTMLElement}} */
export function systemCard(system, systems, list, ctx) {
  const state = exactly(system);
  const { before, after } = beside(list, system);
  const title = h("h1", { tabindex: "-1", text: system.name });
  const el = h("article.hx-system", { "data-system": system.id }, [
    h("nav.hx-system-nav", [
      h("button.hx-quiet", { text: `\u2190 ${SYSTEM.back}`, onclick: () => ctx.onBack() }),
      h("span.hx-system-turn", [
        way(before, SYSTEM.before(before.name), "\u2039", ctx),
        way(after, SYSTEM.after(after.name), "\u203a", ctx),
      ]),
    ]),
    h("header.hx-system-top", [h("div", [title, h("p.hx-system-of", origin(system))]), placeOn(system, systems)]),
    h("p.hx-system-idea", system.idea),
    h("figure.hx-panel.hx-system-drawing", [
      shapePicture(system),
      h("figcaption", [h("p", shapeSaid(system)), tags(system, state)]),
    ]),
    h("div.hx-system-facts", [
      figures(system),
      fact(SYSTEM.reasons[state], system.why, state),
      fact(SYSTEM.pays, system.pays),
      fact(SYSTEM.loses, system.loses),
    ]),
    brought.cards.map(({ name, make }) => (system.drawn[name] ? make(system.drawn[name]) : null)),
    here(system, ctx),
    near(system, systems, ctx),
  ]);
  return { el, title };
}

/** @param {System} other @param {string} label @param {string} sign @param {Ctx} ctx */
const way = (other, label, sign, ctx) =>
  h("button.hx-quiet", {
    ...{ "aria-label": label, "data-tip": label, text: sign },
    onclick: () => ctx.onOpen(other.id),
  });

/** @param {System} system */
const origin = ({ paper, year }) => [h("span", String(year)), ...(paper ? [paperLink(paper)] : [])];

/** @param {System} system @param {"yes"|"no"|"open"} state */
const tags = (system, state) => [
  h("span.hx-system-tag", SYSTEM.who(WHO[system.who_drafts].name)),
  h("span.hx-system-tag", SYSTEM.how(HOW[system.how_judged].name)),
  h("span.hx-system-tag", { "data-exact": state, text: SYSTEM.exact[state] }),
];

/** @param {string} title @param {string} text @param {string} [state] */
const fact = (title, text, state = "") =>
  h("section.hx-panel.hx-system-fact", { "data-exact": state || null }, [h("h2", title), h("p", text)]);

/** The paper's figures beside ours. @param {System} system */
function figures({ headline, ours, stack }) {
  const said = headline ? headline.figures.map(SYSTEM.reported).join("; ") : SYSTEM.noFigure;
  const theirs = h("div", [
    h("h2", SYSTEM.theirs),
    h("p", { class: headline ? "hx-system-says" : "hx-system-none", text: said }),
    headline && h("p.hx-system-on", headline.on ?? SYSTEM.noMachine),
  ]);
  const none = stack ? SYSTEM.notMeasured : SYSTEM.notBuilt;
  const own = h("div", [
    h("h2", SYSTEM.ours[ours[0]?.clock ?? ""] ?? SYSTEM.ours[""]),
    ours.length
      ? ours.map((one, i) => measured(one, i > 0, ours[i - 1]?.stack ?? stack))
      : [h("p.hx-system-none", none)],
  ]);
  return h("section.hx-panel.hx-system-figures", { "aria-label": SYSTEM.figures }, [theirs, own]);
}

/** A figure of ours: the gain, how sure, where, of which stack; its code where that is another than the one before.
 *  @param {Ours} one @param {boolean} further behind the first @param {string|null} before the stack of what stands above
 */
function measured(one, further, before) {
  const { gain, low, high, machine, prompts, bench, stack, clock } = one;
  const of = bench ? ofBench(one, clock ? `${stack} (${clock})` : stack) : ofRun(one);
  return h("div.hx-system-ours", { "data-further": further ? "" : null }, [
    h("p.hx-system-says", [
      h("b", `${stated("speed_up", of, ratio(gain))}\u00d7`),
      ` ${SYSTEM.ofPlain}${further && clock === "reckoned" ? `, ${SYSTEM.reckoned}` : ""}${one.spared == null ? "" : `, ${PRICE.short(percent(one.spared))}`}`,
    ]),
    low !== null &&
      high !== null &&
      h("p.hx-system-on", SYSTEM.interval(stated("low", of, ratio(low)), stated("high", of, ratio(high)))),
    h("p.hx-system-on", SYSTEM.on(machine, prompts, bench)),
    h("p.hx-system-on", [nameOfStack(stack), stack === before ? null : h("code", stack)]),
  ]);
}

/** What of it is here, and the ways there. @param {System} system @param {Ctx} ctx */
function here(system, ctx) {
  const { stack, recording, here: note, first } = system;
  if (!stack && !note) return null;
  return h("section.hx-panel.hx-system-here", [
    stack && h("div", [h("h2", SYSTEM.stack), h("p", stackName(stack)), h("code", stack)]),
    note && h("p.hx-system-note", note),
    first && h("div.hx-system-first", [h("h2", SYSTEM.first), h("p", first)]),
    stack &&
      h("div.hx-system-do", [
        h("button.hx-go", { text: SYSTEM.open, "data-tip": SYSTEM.openTip, onclick: () => ctx.onUse(system) }),
        recording && h("button.hx-quiet", { text: SYSTEM.watch, onclick: () => ctx.onWatch(recording) }),
      ]),
  ]);
}

/** @param {System} system @param {System[]} systems @param {Ctx} ctx */
function near(system, systems, ctx) {
  const item = (/** @type {{system: System, shares: string}} */ { system: other, shares }) =>
    h("li", [chipOf(other, ctx.onOpen), h("span.hx-system-shares", shares)]);
  return h("section.hx-system-near", [h("h2", SYSTEM.near), h("ul", neighbours(systems, system).map(item))]);
}

/** The map in little, with the cell that it lies in. @param {System} system @param {System[]} systems */
function placeOn(system, systems) {
  const cells = ROWS.flatMap((who) =>
    COLUMNS.map((how) => {
      const here = system.who_drafts === who && system.how_judged === how;
      const some = systems.some((one) => one.who_drafts === who && one.how_judged === how);
      return h("i", { "data-here": String(here), "data-some": String(some) });
    }),
  );
  return h("div.hx-system-place", { "aria-hidden": "true", title: SYSTEM.where }, cells);
}
