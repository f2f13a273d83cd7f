/** The Planner's first question: two sliders, one curve, one sentence that answers, and the stack to use. */

import { h, say } from "../../../shared/kit/dom.js";
import { svg } from "../../../shared/kit/svg.js";
import { ofTheory, stated } from "../../../shared/levels/stated.js";
import { levelPhrase, nameOfStack } from "../../../shared/levels/stack-names.js";
import { curveTable, drawCurve, nearest, stopsSlider } from "./curve.js";
import { ratio } from "../../../../text/numbers.js";
import { ANOTHER } from "../../../../text/en/another.js";

/** @import {CostPoint, Curve, PricedPlan} from "./answers.js" */

const PHONE = 700; // px of the page, as in planner.css
const HIGH = { phone: 260, screen: 320 };

/** @param {{about: () => any, onTurn: (at: {agreement: number|null, share: number|null}) => void, onUse: (stack: string) => void}} ctx
 *    onTurn: a slider was moved; null stands for the profile's own number */
export function anotherLevel(ctx) {
  /** @type {Curve|null} */ let curve = null;
  /** @type {CostPoint|null} */ let own = null; // the profile's own point
  /** @type {{agreement: number|null, share: number|null}} */ let at = { agreement: null, share: null };
  /** @type {number|null|undefined} */ let shown; // the agreement of the curve, as it was asked for
  /** @type {Curve|null} */ let tabled = null; // whose table is on the page
  let kind = "shipped";
  const answer = h("p.hx-al-answer", { role: "status", "aria-live": "polite" });
  const pays = h("p.hx-al-pays");
  const lead = h("p.hx-al-lead");
  const on = h("p.hx-al-on");
  const beside = h("p.hx-al-beside", { hidden: true });
  const agrees = stopsSlider((i) => turn({ agreement: own_(curve?.agreements[i] ?? 0, curve?.agreement) }));
  const costs = stopsSlider((i) => turn({ share: own_(curve?.points[i].share ?? 0, curve?.share) }));
  const picture = svg("svg.hx-al-curve", { role: "img" });
  const legend = h("p.hx-al-legend", { "aria-hidden": "true" });
  const table = h("div.hx-figure-scroll", { tabindex: "0", role: "group", "aria-label": ANOTHER.table });
  const use = h("button.hx-go", { text: ANOTHER.use, "data-tip": ANOTHER.useTip });
  const back = h("button.hx-quiet", ANOTHER.reset);
  const stack = h("div.hx-al-stack");
  back.addEventListener("click", () => turn({ agreement: null, share: null }));
  const el = h("section.hx-panel.hx-al", { "aria-label": ANOTHER.label }, [
    h("h2.hx-al-question", ANOTHER.question),
    answer,
    on,
    pays,
    beside,
    h("div.hx-al-sliders", [agrees.el, costs.el]),
    legend,
    picture,
    h("div.hx-al-use", [use, back, stack]),
    lead,
    h("details.hx-figure-data", [h("summary", ANOTHER.asTable), table]),
  ]);
  new ResizeObserver(() => draw()).observe(el);

  /** The profile's own number is written as null: it stays its own when the profile changes. */
  function own_(/** @type {number} */ value, /** @type {number|undefined} */ mine) {
    return value === mine ? null : value;
  }

  function turn(/** @type {Partial<typeof at>} */ part) {
    at = { ...at, ...part };
    settle();
    draw();
    ctx.onTurn(at);
  }

  /** The sliders where `at` says. */
  function settle() {
    if (!curve) return;
    const { agreements, points, agreement, share } = curve;
    agrees.stand(
      agreements,
      at.agreement ?? agreement,
      (x) => ANOTHER.ofTokens(x) + (x === agreement ? measured() : ""),
    );
    costs.stand(
      points.map((point) => point.share),
      at.share ?? share,
      (x) => ANOTHER.ofPass(x) + (x === share ? measured() : ""),
    );
    back.disabled = at.agreement === null && at.share === null;
  }

  const measured = () => (kind === "simulated" ? ANOTHER.assumed : ANOTHER.measured);

  function draw() {
    if (!curve || !own) return;
    const { levels, share } = curve;
    const many = levels.length;
    const middle = levels[many - 2];
    const level = middle.spec ? levelPhrase(middle.spec) : middle.name;
    const names = { more: ANOTHER.best(many), fewer: ANOTHER.best(many - 1), level };
    const read = readAt(curve, at.share ?? share);
    const measuredPoint = at.share === null && at.agreement === null;
    const [more, fewer] = [read.point.more, read.point.fewer].map(({ stack: plan, speedup }) =>
      measuredPoint
        ? stated("speed_up", ofTheory(ctx.about(), plan, ctx.about().temperature), ratio(speedup))
        : ratio(speedup),
    );
    const sentence = {
      yes: () => ANOTHER.yes(many, more, fewer),
      no: () => ANOTHER.no(many, more, fewer),
      even: () => ANOTHER.even(many, more),
    }[read.pays]();
    say(answer, sentence);
    el.dataset.pays = read.pays;
    say(pays, stretch(paysFrom(curve), level, read.pays));
    say(lead, ANOTHER.lead(many, level, kind));
    say(on, ANOTHER.on(ctx.about(), kind));
    agrees.name(ANOTHER.agrees(level));
    costs.name(ANOTHER.costs(level));
    const [wide, high] = [Math.max(300, el.clientWidth - 32), innerWidth < PHONE ? HIGH.phone : HIGH.screen];
    drawCurve(picture, curve, { share: at.share ?? share, own, names }, wide, high);
    picture.setAttribute("aria-label", `${ANOTHER.upright}. ${sentence}`);
    legend.replaceChildren(
      h("span.hx-al-key.hx-al-more", names.more),
      h("span.hx-al-key.hx-al-fewer", names.fewer),
      h("span.hx-al-key.hx-al-own", ANOTHER.own[/** @type {keyof typeof ANOTHER.own} */ (kind)] ?? ANOTHER.own.shipped),
      h("span", ANOTHER.upright),
    );
    if (tabled !== curve) table.replaceChildren(curveTable(curve, names));
    tabled = curve;
    use.onclick = () => curve?.runs && ctx.onUse(read.plan.stack);
    use.toggleAttribute("aria-disabled", !curve.runs);
    use.dataset.tip = curve.runs ? ANOTHER.useTip : ANOTHER.cannotUse;
    if (stack.dataset.stack !== read.plan.stack) stack.replaceChildren(nameOfStack(read.plan.stack));
    stack.dataset.stack = read.plan.stack;
  }

  return {
    el,
    /** A profile was chosen: the sliders begin as the address says. @param {{agreement: number|null, share: number|null}} asked */
    begin(asked, /** @type {string} */ source) {
      at = asked;
      kind = source;
      curve = null;
      own = null;
    },
    at: () => at,
    /** How the prediction and what was measured compare. @param {string} text "" where nothing was measured */
    measured(text) {
      say(beside, text);
      beside.hidden = !text;
    },
    /** @param {Curve} heard @param {number|null} agreement that it was asked at */
    show(heard, agreement) {
      if (agreement === null) own = nearest(heard.points, heard.share);
      if (agreement !== at.agreement && curve) return; // the one that was asked for is on its way
      curve = heard;
      shown = agreement;
      settle();
      draw();
    },
    /** The agreement that is to be asked for next: null for the profile's own point; undefined: none. */
    wants: () => (own === null ? null : shown !== at.agreement ? at.agreement : undefined),
    /** The profile's numbers have changed. */
    stale() {
      own = null;
      shown = undefined;
    },
  };
}

/** @param {{low: number|null, high: number|null}|null} ends @param {string} level @param {string} pays at the slider's cost */
function stretch(ends, level, pays) {
  if (!ends) return ANOTHER.paysNever;
  if (ends.low === null && ends.high === null) return pays === "no" ? ANOTHER.paysNever : ANOTHER.paysAlways;
  if (ends.low === null) return ANOTHER.pays(level, ends.high ?? 1);
  return ends.high === null ? ANOTHER.paysAbove(level, ends.low) : ANOTHER.paysBetween(level, ends.low, ends.high);
}

// What a curve says: of one cost, and of the costs between which another level pays.

const SAME = 0.005; // closer than half a percent, two plans are called equal

const gain = (/** @type {CostPoint} */ { fewer, more }) => more.speedup / fewer.speedup;

/** At one cost: whether it pays ("yes", "no", "even"), and the plan to use.
 *  @param {Curve} curve @param {number} share
 *  @returns {{point: CostPoint, pays: "yes"|"no"|"even", plan: PricedPlan}} */
export function readAt(curve, share) {
  const point = nearest(curve.points, share);
  const over = gain(point);
  const pays = Math.abs(over - 1) < SAME ? "even" : over > 1 ? "yes" : "no";
  return { point, pays, plan: over >= 1 ? point.more : point.fewer };
}

/** The widest stretch of costs on which it pays: its ends, null where the curve has no end on that side; null if it never
 *  pays. @param {Curve} curve @returns {{low: number|null, high: number|null}|null} */
export function paysFrom({ points, crossings }) {
  const ends = [points[0].share, ...crossings, points[points.length - 1].share];
  const stretches = ends.slice(1).map((high, i) => ({ low: ends[i], high }));
  /** @param {{low: number, high: number}} ends */
  const inside = ({ low, high }) => points.filter(({ share }) => share >= low && share <= high);
  const paying = stretches.filter((one) => inside(one).some((point) => gain(point) > 1));
  if (!paying.length) return null;
  const { low, high } = paying.reduce((a, b) => (b.high - b.low > a.high - a.low ? b : a));
  return { low: low === ends[0] ? null : low, high: high === ends[ends.length - 1] ? null : high };
}
