/** The card of a system: its drawing, its idea, the paper's figure beside ours, why it is exact or not, where it pays, and
 *  what it shares with others. */

import { h } from "../../shared/kit/dom.js";
import { nameOfStack, stackName } from "../../shared/levels/stack-names.js";
import { ofBench, ofRun, stated } from "../../shared/levels/stated.js";
import { beside, exactly, neighbours } from "./by-question.js";
import { chipOf, COLUMNS, ROWS } from "./map.js";
import { shapePicture } from "./shape-picture.js";
import { shapeSaid } from "./shape.js";
import { brought } from "../../systems/index.js";
import { ratio } from "../../../text/numbers.js";
import { HOW, SYSTEM, WHO } from "../../../text/en/atlas.js";

/** @typedef {import("./by-question.js").System} System */
/** @typedef {import("./by-question.js").Ours} Ours */
/** @typedef {{onOpen: (id: string) => void, onBack: () => void, onUse: (system: System) => void,
 *   onWatch: (recording: string) => void}} Ctx */

/**
 * @param {System} system @param {System[]} systems all @param {System[]} list those that the arrows lead through, in their order
 * @param {Ctx} ctx
 * @returns {{el: HTMLElement, title: HTMLElement}}
 */
export function systemCard(system, systems, list, ctx) {
  const state = exactly(system);
  const { before, after } = beside(list, system);
  const title = h("h1", { tabindex: "-1", text: system.name });
  const el = h(
    "article",
    { class: "hx-system", "data-system": system.id },
    h(
      "nav",
      { class: "hx-system-nav" },
      h("button", { type: "button", class: "hx-quiet", text: `\u2190 ${SYSTEM.back}`, onclick: () => ctx.onBack() }),
      h(
        "span",
        { class: "hx-system-turn" },
        way(before, SYSTEM.before(before.name), "\u2039", ctx),
        way(after, SYSTEM.after(after.name), "\u203a", ctx),
      ),
    ),
    h(
      "header",
      { class: "hx-system-top" },
      h("div", {}, title, h("p", { class: "hx-system-of" }, ...origin(system))),
      placeOn(system, systems),
    ),
    h("p", { class: "hx-system-idea", text: system.idea }),
    h(
      "figure",
      { class: "hx-panel hx-system-drawing" },
      shapePicture(system),
      h("figcaption", {}, h("p", { text: shapeSaid(system) }), ...tags(system, state)),
    ),
    h(
      "div",
      { class: "hx-system-facts" },
      figures(system),
      fact(SYSTEM.reasons[state], system.why, state),
      fact(SYSTEM.pays, system.pays),
      fact(SYSTEM.loses, system.loses),
    ),
    ...brought.cards.map(({ name, make }) => (system.drawn[name] ? make(system.drawn[name]) : null)),
    here(system, ctx),
    near(system, systems, ctx),
  );
  return { el, title };
}

/** @param {System} other @param {string} label @param {string} sign @param {Ctx} ctx */
const way = (other, label, sign, ctx) =>
  h("button", {
    ...{ type: "button", class: "hx-quiet", "aria-label": label, "data-tip": label, text: sign },
    onclick: () => ctx.onOpen(other.id),
  });

/** @param {System} system */
function origin({ paper, year }) {
  const link = paper
    ? h("a", {
        href: `https://arxiv.org/abs/${paper}`,
        target: "_blank",
        rel: "noopener",
        text: SYSTEM.paper(paper),
      })
    : null;
  return [h("span", { text: String(year) }), ...(link ? [link] : [])];
}

/** @param {System} system @param {"yes"|"no"|"open"} state */
const tags = (system, state) => [
  h("span", { class: "hx-system-tag", text: SYSTEM.who(WHO[system.who_drafts].name) }),
  h("span", { class: "hx-system-tag", text: SYSTEM.how(HOW[system.how_judged].name) }),
  h("span", { class: "hx-system-tag", "data-exact": state, text: SYSTEM.exact[state] }),
];

/** @param {string} title @param {string} text @param {string} [state] */
const fact = (title, text, state = "") =>
  h(
    "section",
    { class: "hx-panel hx-system-fact", "data-exact": state || null },
    h("h2", { text: title }),
    h("p", { text }),
  );

/** The paper's figures beside ours. @param {System} system */
function figures({ headline, ours, stack }) {
  const said = headline ? headline.figures.map(SYSTEM.reported).join("; ") : SYSTEM.noFigure;
  const theirs = h(
    "div",
    {},
    h("h2", { text: SYSTEM.theirs }),
    h("p", { class: headline ? "hx-system-says" : "hx-system-none", text: said }),
    headline ? h("p", { class: "hx-system-on", text: headline.on ?? SYSTEM.noMachine }) : null,
  );
  const none = stack ? SYSTEM.notMeasured : SYSTEM.notBuilt;
  const own = h(
    "div",
    {},
    h("h2", { text: SYSTEM.ours[ours[0]?.clock ?? ""] ?? SYSTEM.ours[""] }),
    ...(ours.length
      ? ours.map((one, i) => measured(one, i > 0, ours[i - 1]?.stack ?? stack))
      : [h("p", { class: "hx-system-none", text: none })]),
  );
  return h("section", { class: "hx-panel hx-system-figures", "aria-label": SYSTEM.figures }, theirs, own);
}

/**
 * A figure of ours: the gain, how sure, where, of which stack; its code where that is another than the one before.
 * @param {Ours} one @param {boolean} further behind the first @param {string|null} before the stack of what stands above
 */
function measured(one, further, before) {
  const { gain, low, high, machine, prompts, bench, stack, clock } = one;
  const of = bench ? ofBench(one, clock ? `${stack} (${clock})` : stack) : ofRun(one);
  return h(
    "div",
    { class: "hx-system-ours", "data-further": further ? "" : null },
    h(
      "p",
      { class: "hx-system-says" },
      h("b", { text: `${stated("speed_up", of, ratio(gain))}\u00d7` }),
      ` ${SYSTEM.ofPlain}${further && clock === "reckoned" ? `, ${SYSTEM.reckoned}` : ""}`,
    ),
    low !== null && high !== null
      ? h("p", {
          class: "hx-system-on",
          text: SYSTEM.interval(stated("low", of, ratio(low)), stated("high", of, ratio(high))),
        })
      : null,
    h("p", { class: "hx-system-on", text: SYSTEM.on(machine, prompts, bench) }),
    h("p", { class: "hx-system-on" }, nameOfStack(stack), stack === before ? null : h("code", { text: stack })),
  );
}

/** What of it is here, and the ways there. @param {System} system @param {Ctx} ctx */
function here(system, ctx) {
  const { stack, recording, here: note, first } = system;
  if (!stack && !note) return null;
  return h(
    "section",
    { class: "hx-panel hx-system-here" },
    stack
      ? h("div", {}, h("h2", { text: SYSTEM.stack }), h("p", { text: stackName(stack) }), h("code", { text: stack }))
      : null,
    note ? h("p", { class: "hx-system-note", text: note }) : null,
    first ? h("div", { class: "hx-system-first" }, h("h2", { text: SYSTEM.first }), h("p", { text: first })) : null,
    stack
      ? h(
          "div",
          { class: "hx-system-do" },
          h("button", {
            type: "button",
            class: "hx-go",
            text: SYSTEM.open,
            "data-tip": SYSTEM.openTip,
            onclick: () => ctx.onUse(system),
          }),
          recording
            ? h("button", {
                type: "button",
                class: "hx-quiet",
                text: SYSTEM.watch,
                onclick: () => ctx.onWatch(recording),
              })
            : null,
        )
      : null,
  );
}

/** @param {System} system @param {System[]} systems @param {Ctx} ctx */
function near(system, systems, ctx) {
  const item = (/** @type {{system: System, shares: string}} */ { system: other, shares }) =>
    h("li", {}, chipOf(other, ctx.onOpen), h("span", { class: "hx-system-shares", text: shares }));
  return h(
    "section",
    { class: "hx-system-near" },
    h("h2", { text: SYSTEM.near }),
    h("ul", {}, ...neighbours(systems, system).map(item)),
  );
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
  return h("div", { class: "hx-system-place", "aria-hidden": "true", title: SYSTEM.where }, ...cells);
}
