/** Pictures of figures: tokens of each pass, the time of a pass by its rows, what a token costs each level, and what stacks
 *  gain by the benchmarks. */

import { roundNumber } from "../../../shared/kit/round-number.js";
import { h } from "../../../shared/kit/dom.js";
import { levelBadge } from "../../../shared/levels/badge.js";
import { momentOf } from "../figures/run-figures.js";
import { figure, usualOf } from "../figures/refs.js";
import { committedByRound, costOfToken, timeByRows } from "../figures/sums.js";
import { ofRun, stated } from "../../../shared/levels/stated.js";
import { ratio, restOf } from "../../../../text/numbers.js";
import { frame } from "./frame.js";
import { CHART } from "../../../../text/en/pictures.js";

/** @import {Level} from "../../../shared/run/trace.js" @import {Sources} from "../figures/run-figures.js"
 *  @import {Picture, PictureContext} from "./frame.js" */

/** @typedef {(ctx: PictureContext) => Picture} Maker */

const MOST = 40; // columns
const legend = (/** @type {Level[]} */ levels) =>
  h("p.hx-sketch-key", [
    levels.map((level) => h("span", { style: { "--hue": level.hue } }, [levelBadge(level), ` ${level.name}`])),
  ]);

/** One column for each pass of the target: what it committed, in the colours of who supplied it. @type {Maker} */
export function passesPicture({ model, figure: asked, step, open }) {
  const until = open ? (momentOf(model, asked.at ?? step.action?.at ?? "start") ?? 0) : Infinity;
  const rounds = committedByRound(model, until);
  const shown = rounds.slice(0, MOST);
  const most = Math.max(2, ...shown.map((one) => one.tokens));
  const column = (/** @type {{round: number, tokens: number, byLevel: number[]}} */ { round, tokens, byLevel }) =>
    h("span.hx-chart-column", { "data-tip": CHART.pass(roundNumber(round), tokens) }, [
      h("b", String(tokens)),
      byLevel.flatMap((count, i) =>
        Array.from({ length: count }, () => h("i", { style: { "--hue": model.levels[i].hue } })),
      ),
    ]);
  const total = rounds.reduce((sum, one) => sum + one.tokens, 0);
  const mean = rounds.length ? total / rounds.length : 0;
  const line = open
    ? null
    : h("span.hx-chart-mean", { style: { "--at": String(mean / most) } }, CHART.mean(ratio(mean)));
  const drawn = h("div.hx-chart-columns", { style: { "--most": String(most) } }, [shown.map(column), line]);
  const picture = frame("passes", CHART.passes, [drawn, legend(model.levels)]);
  const first = shown.map((one) => one.tokens).join(", ");
  picture.tell(
    open
      ? CHART.firstPasses(first)
      : CHART.allPasses(rounds.length, total, stated("per_forward", ofRun(model.header), ratio(mean))),
  );
  return picture;
}

/** How long a pass takes by how many rows it has; of more than one row only when that is no longer asked. @type {Maker} */
export function rowsPicture({ model, open }) {
  const target = /** @type {Level} */ (model.levels.at(-1));
  /** @param {{rows: number, ms: number}} time */
  const told = ({ rows, ms }) => stated(usualOf(target.tag, rows), ofRun(model.header), CHART.ms(ms));
  const found = timeByRows(model);
  const most = Math.max(...found.map((one) => one.ms));
  const bars = found.map(({ rows, ms, count }, i) =>
    open && i
      ? bar(CHART.rows(rows), null, "?", target.hue)
      : bar(CHART.rows(rows), ms / most, told({ rows, ms }), target.hue, CHART.median(count)),
  );
  const picture = frame("rows", CHART.byRows, [h("div.hx-chart-bars", bars)]);
  picture.tell(open ? CHART.oneRow(told(found[0])) : CHART.someRows(found.map((x) => [x.rows, told(x)])));
  return picture;
}

/** What a token costs each level, beside plain decoding where that is not asked. @type {Maker} */
export function costsPicture({ model, open }) {
  const { levels, plain, whole } = costOfToken(model);
  const told = (/** @type {number} */ ms, /** @type {number} */ i) =>
    stated(["cost", model.levels[i].tag], ofRun(model.header), CHART.ms(ms));
  const rest = restOf(levels, whole);
  const most = Math.max(whole, plain ?? 0);
  const part = (/** @type {number} */ ms, /** @type {number} */ i, text = told(ms, i)) =>
    h("i", {
      style: { "--hue": model.levels[i].hue, "--part": String(ms / most) },
      "data-tip": `${model.levels[i].name}: ${text}`,
    });
  const row = (/** @type {string} */ name, /** @type {Node[]} */ parts, /** @type {string} */ text) =>
    h("p.hx-chart-stacked", [h("span", name), h("span.hx-chart-bed", [parts, h("b", text)])]);
  const target = model.levels.length - 1;
  const around = h("i.hx-chart-around", {
    style: { "--hue": "var(--muted)", "--part": String(rest / most) },
    "data-tip": `${CHART.engine}: ${CHART.ms(rest)}`,
  });
  const rows = [
    row(
      CHART.thisStack,
      [...levels.map((ms, i) => part(ms, i)), around],
      open ? "" : stated("ms_per_token", ofRun(model.header), CHART.ms(whole)),
    ),
  ];
  if (!open && plain) {
    const text = stated("plain_ms", ofRun(model.header), CHART.ms(plain));
    rows.push(row(CHART.plain, [part(plain, target, text)], text));
  }
  const shares = levels.map((ms, i) =>
    h("li", { style: { "--hue": model.levels[i].hue } }, [levelBadge(model.levels[i]), ` ${told(ms, i)}`]),
  );
  const picture = frame("costs", CHART.costs, [h("div.hx-chart-costs", rows), h("ul.hx-sketch-key", shares)]);
  picture.tell(
    CHART.costsSaid(
      levels.map((ms, i) => [model.levels[i].tag, told(ms, i)]),
      CHART.ms(rest),
    ),
  );
  return picture;
}

/** What stacks gain, with the intervals of the benchmark; the run alone where none has its stack. @type {Maker} */
export function gainsPicture({ figure: asked, sources, open }) {
  const found = open ? [] : (asked.stacks ?? []).map((name) => gainOf(name, sources()));
  const most = Math.max(2, ...found.map((one) => one.high)) * 1.06;
  const share = (/** @type {number} */ x) => String(x / most);
  const rows = found.map((one) =>
    h("li.hx-chart-gain", [
      h("span.hx-chart-name", { "data-tip": one.stack, tabindex: "0", text: one.called }),
      h("span.hx-chart-bed", { style: { "--one": share(1) } }, [
        h("i.hx-chart-whisker", { style: { "--low": share(one.low), "--high": share(one.high) } }),
        h("i.hx-chart-dot", { style: { "--at": share(one.value) } }),
      ]),
      h("b", `${one.text}\u00d7`),
      h("small", one.alone ? CHART.alone : CHART.interval(one.ends[0], one.ends[1])),
    ]),
  );
  const picture = frame("gains", CHART.gains, [h("ul.hx-chart-gains", rows), h("p.hx-sketch-key", CHART.one)]);
  picture.tell(found.map((one) => CHART.gainSaid({ ...one, stack: one.called })).join(" "));
  return picture;
}

/** Of the run's own stack (`run`), the best of so many levels (`best.3`), or a stack of the benchmark. */
function gainOf(/** @type {string} */ name, /** @type {Sources} */ sources) {
  const best = name.startsWith("best.");
  const of = (/** @type {string} */ what) =>
    best ? figure(sources, `${name}.${what}`, "bench") : figure(sources, what, name === "run" ? "" : `bench:${name}`);
  const ends = name === "run" ? ["gain", "gain.low", "gain.high"] : ["speed_up", "low", "high"];
  const [gain, ...around] = ends.map(of);
  const [low, high] = around.map((one) => Number(one?.value));
  return {
    stack: String(of("stack")?.value ?? name),
    called: of("stack")?.text ?? name,
    ...{ value: Number(gain?.value), text: gain?.text ?? "", low, high },
    ends: /** @type {[string, string]} */ (around.map((one) => one?.text ?? "")),
    alone: name === "run" && low === high,
  };
}

/** @param {string} name @param {number|null} share @param {string} text @param {string} [hue] @param {string|null} [tip] */
export function bar(name, share, text, hue = "", tip = null) {
  return h("p.hx-chart-bar", { "data-tip": tip, style: { "--hue": hue } }, [
    h("span", name),
    h("span.hx-chart-bed", [share === null ? null : h("i", { style: { "--part": String(share) } }), h("b", text)]),
  ]);
}
