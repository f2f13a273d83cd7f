/** The best plan: its tower in a line, its figures, what each level is worth, the best per number of levels, why. */

import { h, say } from "../../shared/kit/dom.js";
import { ofTheory, stated } from "../../shared/levels/stated.js";
import { ratio, rounded } from "../../../text/numbers.js";
import { levelBadge } from "../../shared/levels/badge.js";
import { nameOfStack, stackNames } from "../../shared/levels/stack-names.js";
import { ANSWER } from "../../../text/en/experts.js";

/** @import {Look} from "../../shared/levels/kinds.js" */

const ENGINE_SEEN = 0.005; // of the time: less is not drawn

/** @typedef {Map<string, Look>} Styles */
/** As app/tabs/planner/answer.py gives them.
 *  @typedef {{levels: string[], blocks: number[], tree: number[], stack: string, runs: boolean, ms: number, speedup: number, tokens: number}} Plan
 *  @typedef {{name: string, block: number|null, calls: number, ms: number, share: number, worth: number|null}} Share
 *  @typedef {{best: Plan & {shares: Share[]}, plain_ms: number, by_depth: Plan[], others: Plan[], headline: string, beside: string,
 *    why: {pays: string, verdict: string, text: string}[]}} Answer
 *  @typedef {{plays: boolean, about: () => any, onUse: (plan: Plan) => void, onPlay: (plan: Plan) => void}} Context */

/** @param {Context} ctx @returns {{el: HTMLElement, show: (answer: Answer, styles: Styles) => void}} */
export function answerPanel(ctx) {
  const tower = h("div.hx-plan-tower");
  const figures = h("dl.hx-plan-figures");
  const use = h("button.hx-go.hx-plan-use", ANSWER.use);
  const play = h("button.hx-quiet.hx-plan-play", { text: ANSWER.play, "data-tip": ANSWER.playTip });
  const stack = h("div.hx-plan-stack");
  const reason = h("p.hx-plan-text");
  const spoken = h("p.hx-plan-headline", { role: "status", "aria-live": "polite" });
  const label = ANSWER.sharesHead.join(", ");
  const shares = h("div.hx-plan-shares", { tabindex: "0", role: "group", "aria-label": label });
  const best = h("section.hx-panel.hx-plan-best", { "aria-label": ANSWER.bestLabel }, [
    h("h2.hx-plan-h", ANSWER.best),
    spoken,
    tower,
    figures,
    h("div.hx-plan-useline", [use, play, stack]),
    reason,
    shares,
  ]);
  const depths = h("div");
  const depth = h("section.hx-panel.hx-plan-depth", { "aria-label": ANSWER.depthLabel }, [
    h("h2.hx-plan-h", ANSWER.depth),
    depths,
  ]);
  const why = h("section.hx-plan-why", { "aria-label": ANSWER.why });

  function show(/** @type {Answer} */ answer, /** @type {Styles} */ styles) {
    const top = answer.best;
    const of = (/** @type {string} */ stack) => ofTheory(ctx.about(), stack, ctx.about().temperature);
    say(spoken, answer.headline);
    tower.replaceChildren(...tiles(answer, styles));
    figures.replaceChildren(
      fact(stated("ms_per_token", of(top.stack), rounded(top.ms)), ANSWER.ms),
      fact(`${stated("speed_up", of(top.stack), ratio(top.speedup))}×`, ANSWER.gain),
      fact(ratio(top.tokens), ANSWER.tokens),
    );
    stack.replaceChildren(nameOfStack(top.stack));
    use.onclick = () => ctx.onUse(top);
    play.onclick = () => ctx.plays && ctx.onPlay(top);
    for (const button of [use, play]) {
      const first = (button === use) === top.runs;
      button.classList.toggle("hx-go", first);
      button.classList.toggle("hx-quiet", !first);
    }
    use.toggleAttribute("aria-disabled", !top.runs);
    play.toggleAttribute("aria-disabled", !ctx.plays);
    play.dataset.tip = ctx.plays ? ANSWER.playTip : ANSWER.playNeeds;
    use.dataset.tip = top.runs ? ANSWER.useTip : ANSWER.cannotUseTip;
    reason.textContent = top.runs ? "" : ANSWER.cannotUse;
    reason.hidden = top.runs;
    shares.replaceChildren(sharesTable(top, styles));
    depths.replaceChildren(depthTable(answer, styles, ctx));
    why.replaceChildren(
      ...answer.why.map(({ pays, verdict, text }) =>
        h("div.hx-panel.hx-plan-reason", { "data-pays": pays }, [h("h3", verdict), h("p", text)]),
      ),
    );
  }

  return { el: h("div.hx-plan-answer", [best, depth, why]), show };
}

/** The levels in a line, cheapest first, each exactly as wide as its share of the time; below it what each one is. */
function tiles(/** @type {Answer} */ { best }, /** @type {Styles} */ styles) {
  /** @type {{name: string, text: string, share: number, ms: number, style?: Look|null}[]} */
  const parts = best.shares.map((part) => ({
    ...part,
    text: part.block ? `${part.name}:${part.block}` : part.name,
    style: styles.get(part.name),
  }));
  const engine = 1 - best.shares.reduce((sum, part) => sum + part.share, 0);
  if (engine >= ENGINE_SEEN)
    parts.push({
      name: ANSWER.engineName,
      text: ANSWER.engine,
      share: engine,
      ms: engine * best.ms,
      style: null,
    });
  const hue = (/** @type {{style?: Look|null}} */ { style }) => style?.hue ?? "var(--muted)";
  return [
    h("div.hx-plan-scale", { "aria-hidden": "true" }, [
      parts.map((part) => h("i", { style: { "--hue": hue(part), "flex-grow": String(part.share) } })),
    ]),
    h("div.hx-plan-tiles", [
      parts.map((part) =>
        h(
          "div.hx-plan-tile",
          { style: { "--hue": hue(part) }, "data-tip": ANSWER.share(part.name, rounded(part.ms), percent(part.share)) },
          [part.style && levelBadge(part.style), h("b", part.text), h("span", percent(part.share))],
        ),
      ),
    ]),
  ];
}

const lookOf = (/** @type {string} */ name, /** @type {Styles} */ styles) => /** @type {Look} */ (styles.get(name));

function sharesTable(/** @type {Answer["best"]} */ top, /** @type {Styles} */ styles) {
  const row = (/** @type {Share} */ part) =>
    h("tr", [
      h("th.hx-plan-level", { scope: "row" }, [
        levelBadge(lookOf(part.name, styles)),
        h("span", lookOf(part.name, styles).name),
      ]),
      h("td", String(part.block ?? "–")),
      h("td", part.calls.toFixed(2)),
      h("td", rounded(part.ms)),
      h("td", [
        part.worth === null
          ? ANSWER.signs
          : part.worth < 1.0005
            ? ANSWER.nothing
            : ANSWER.slower(part.worth.toFixed(2)),
      ]),
    ]);
  const rows = top.shares.toReversed().map(row);
  return h("table", [
    h("thead", [h("tr", [ANSWER.sharesHead.map((text) => h("th", { scope: "col", text }))])]),
    h("tbody", rows),
  ]);
}

function depthTable(/** @type {Answer} */ answer, /** @type {Styles} */ styles, /** @type {Context} */ ctx) {
  const slowest = Math.max(...answer.by_depth.map((one) => one.ms));
  const quickest = Math.min(...answer.by_depth.map((one) => one.ms));
  const called = stackNames([...answer.by_depth, ...answer.others].map((one) => one.stack));
  const of = (/** @type {string} */ stack) => ofTheory(ctx.about(), stack, ctx.about().temperature);
  const row = (/** @type {Plan} */ one, /** @type {string} */ name) =>
    h("tr", { role: "row", class: one.ms === quickest ? "hx-plan-quickest" : null }, [
      h("th", { scope: "row", role: "rowheader" }, h("span.hx-plan-count", name)),
      h("td.hx-plan-chips", { role: "cell" }, [
        called.get(one.stack) === one.stack ? null : h("div", nameOfStack(one.stack, called)),
        one.levels.flatMap((level, i) => [
          h("span.hx-plan-chip", [levelBadge(lookOf(level, styles)), h("span", levelText(one, i))]),
        ]),
      ]),
      h("td.hx-plan-bar", { role: "cell" }, [
        h("i", { style: { width: `${(100 * one.ms) / Math.max(slowest, answer.plain_ms)}%` } }),
        h("span", `${rounded(one.ms)} ms`),
      ]),
      h("td", { role: "cell", text: `${stated("speed_up", of(one.stack), ratio(one.speedup))}×` }),
      h("td", { role: "cell" }, [
        one.runs
          ? h("button.hx-quiet.hx-plan-small", {
              text: ANSWER.useShort,
              "aria-label": ANSWER.useOf(called.get(one.stack) ?? one.stack),
              onclick: () => ctx.onUse(one),
            })
          : h("button.hx-quiet.hx-plan-small", {
              text: ANSWER.playShort,
              "aria-label": ANSWER.playOf(called.get(one.stack) ?? one.stack),
              "aria-disabled": ctx.plays ? null : "",
              "data-tip": ctx.plays ? ANSWER.playTip : ANSWER.playNeeds,
              onclick: () => ctx.plays && ctx.onPlay(one),
            }),
      ]),
    ]);
  const others = answer.others.map((one) => row(one, ""));
  return h("div", [
    h("div.hx-plan-over", [
      h("table.hx-plan-depths", { role: "table" }, [
        head(),
        h("tbody", { role: "rowgroup" }, [
          answer.by_depth.map((one) => row(one, ANSWER.counts[one.levels.length] ?? String(one.levels.length))),
        ]),
      ]),
    ]),
    others.length > 0 &&
      h("details.hx-figure-data", [
        h("summary", ANSWER.others),
        h("div.hx-plan-over", [
          h("table.hx-plan-depths", { role: "table" }, [head(), h("tbody", { role: "rowgroup" }, others)]),
        ]),
      ]),
  ]);
}

// A phone lays rows out as small cards; the roles keep them a table to a screen reader.
const head = () =>
  h("thead", { role: "rowgroup" }, [
    h("tr", { role: "row" }, [
      ANSWER.depthsHead.map((text) => h("th", { scope: "col", role: "columnheader", text })),
      h("th", { scope: "col", role: "columnheader" }, h("span.hx-sr", ANSWER.useIt)),
    ]),
  ]);

const fact = (/** @type {string} */ value, /** @type {string[]} */ [name, tip]) =>
  h("div", { "data-tip": tip }, [h("dt", name), h("dd", value)]);
/** @param {number} share */
const percent = (share) => (share < 0.001 ? "<0.1 %" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`);

/** A level of a plan as the grammar writes it, without its own keys. @param {Plan} plan @param {number} i */
function levelText({ levels, blocks, tree }, i) {
  const block = blocks[i] ? `:${blocks[i]}` : "";
  return levels[i] + block + (i === 0 && tree?.length ? `@tree=${tree.join(".")}` : "");
}
