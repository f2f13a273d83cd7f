/** Would a second machine pay? A sentence that answers, the map with this profile's drafters on it, and what each of them
 *  would gain. Asked for when it is opened. */

import { h, say } from "../../shared/kit/dom.js";
import { svg } from "../../shared/kit/svg.js";
import { stackName } from "../../shared/levels/stack-names.js";
import { fixed, rounded } from "../../../text/numbers.js";
import { SECOND } from "./words.js";
import { stopsSlider } from "../../tabs/planner/another/curve.js";
import { drawMap, mapScales, drafterTable, gainTable, EDGES, GAINING, gainAt, paysAt, together } from "./gain-map.js";
import { bring } from "../index.js";

/** @import {Drafter, SecondAnswer} from "./gain-map.js" */

const PHONE = 700; // px of the page, as in planner.css
const HIGH = { phone: 300, screen: 380 };

/** @param {{onAsk: (question: any) => void, onUse: (stack: string) => void}} ctx */
function secondMachine(ctx) {
  /** @type {SecondAnswer|null} */ let known = null;
  /** @type {any} */ let wanted = null; // a question that was not asked yet
  let shown = 0; // the drafter that is read out, or -1
  let at = { share: 0, agreement: 0 };
  const answer = h("p.hx-sm-answer", { role: "status", "aria-live": "polite", text: SECOND.asking });
  const clock = h("p.hx-sm-note", SECOND.clock);
  const use = h("button.hx-quiet", SECOND.use);
  const table = h("div.hx-figure-data.hx-sm-drafters");
  const reading = h("p.hx-sm-reading", { role: "status", "aria-live": "polite" });
  const why = h("p.hx-sm-why");
  const costs = stopsSlider((i) => known && move({ share: known.map.shares[i] }));
  const accepts = stopsSlider((i) => known && move({ agreement: known.map.agreements[i] }));
  const picture = svg("svg.hx-sm-map", { role: "img" });
  const upright = h("p.hx-sm-upright", { text: SECOND.upright, "aria-hidden": "true" });
  const gains = h("div.hx-figure-scroll", { tabindex: "0", role: "group", "aria-label": SECOND.map });
  const el = h("section.hx-panel.hx-sm", { "aria-label": SECOND.label }, [
    answer,
    clock,
    h("div.hx-al-use", use),
    table,
    reading,
    why,
    h("div.hx-al-sliders", [costs.el, accepts.el]),
    upright,
    picture,
    bands(),
    h("details.hx-figure-data", [h("summary", SECOND.asTable), gains]),
  ]);
  costs.name(SECOND.costs);
  accepts.name(SECOND.accepts);
  new ResizeObserver(() => draw()).observe(el);
  picture.addEventListener("click", point);
  picture.addEventListener("pointermove", (event) => event.buttons && point(event));

  /** @param {{share?: number, agreement?: number}} to */
  function move(to) {
    at = { ...at, ...to };
    shown = -1;
    read();
    draw();
  }

  /** @param {MouseEvent} event */
  function point(event) {
    if (!known) return;
    const box = picture.getBoundingClientRect();
    move(mapScales(known.map, box.width, box.height).at(event.clientX - box.left, event.clientY - box.top));
  }

  /** @param {number} place of a drafter */
  function show(place) {
    const one = known?.drafters[place];
    if (!one) return;
    shown = place;
    at = { share: one.share, agreement: one.agreement };
    read();
    draw();
  }

  function read() {
    if (!known) return;
    const { map } = known;
    const one = known.drafters[shown];
    const [first, second] = one ? ofDrafter(one) : ofPlace(gainAt(map, at.share, at.agreement));
    say(reading, first);
    say(why, second);
    // a drafter's own numbers lie between the stops
    costs.stand(map.shares, at.share, (x) => SECOND.ofPass(one ? at.share : x));
    accepts.stand(map.agreements, at.agreement, (x) => SECOND.ofTokens(one ? at.agreement : x));
    picture.setAttribute("aria-label", `${SECOND.map}. ${first}`);
  }

  function draw() {
    if (!known || !el.clientWidth) return;
    const [wide, high] = [Math.max(300, picture.clientWidth), innerWidth < PHONE ? HIGH.phone : HIGH.screen];
    drawMap(picture, known.map, known.drafters, at, wide, high);
  }

  const open = () => Boolean(el.closest("details")?.open);

  function ask() {
    if (!wanted || !open()) return;
    const question = wanted;
    wanted = null;
    ctx.onAsk(question);
  }

  return {
    el,
    /** It was opened. */
    wake() {
      ask();
      draw();
    },
    /** The profile's numbers have changed. @param {any} question */
    stale(question) {
      wanted = question;
      ask();
    },
    /** @param {SecondAnswer} heard */
    show(heard) {
      known = heard;
      const { one, two } = heard;
      say(answer, headline(heard));
      el.dataset.pays = heard.pays ? "yes" : "no";
      use.hidden = !two?.runs || !heard.pays;
      use.dataset.tip = SECOND.useTip;
      use.onclick = () => two && ctx.onUse(two.stack);
      table.replaceChildren(drafterTable(heard.drafters, show));
      gains.replaceChildren(gainTable(heard.map));
      const best = heard.drafters.findIndex((each) => two && together(each).stack === two.stack);
      show(Math.max(0, best));
      el.dataset.ready = String(one.ms);
    },
    /** @param {string} text */
    refuse(text) {
      say(answer, text);
    },
  };
}

/** @param {SecondAnswer} heard */
function headline({ one, two, gain, pays }) {
  if (!two) return SECOND.none;
  const name = stackName(two.stack.replace(/@with=\w+/, ""));
  return pays
    ? SECOND.yes(name, fixed(gain, 2), rounded(two.ms), rounded(one.ms))
    : SECOND.no(name, rounded(two.ms), rounded(one.ms));
}

/** @param {Drafter} one @returns {[string, string]} */
function ofDrafter(one) {
  const two = together(one);
  const [ms, alone] = [rounded(two.ms), rounded(one.apart.ms)];
  const said = {
    yes: () => SECOND.gainsBy(one.name, fixed(one.gain, 2), ms, alone),
    no: () => SECOND.loses(one.name, ms, alone),
    even: () => SECOND.even(one.name, ms),
  }[paysAt(one.gain)]();
  const why =
    one.gain > 1
      ? SECOND.busy(two.verifying, two.drafting)
      : SECOND.because(one.share, one.agreement, one.pays_between);
  return [said, [why, one.needs ? SECOND.needs(one.needs) : ""].filter(Boolean).join(" ")];
}

/** @param {number} gain @returns {[string, string]} */
function ofPlace(gain) {
  const said = { yes: SECOND.here, no: SECOND.hereNo, even: () => SECOND.hereEven }[paysAt(gain)];
  return [said(fixed(gain, 2)), SECOND.constant];
}

function bands() {
  const round = (/** @type {number|undefined} */ edge) => edge && Math.round(20 * edge) / 20;
  const said = (/** @type {number} */ band) =>
    band === GAINING - 1 ? SECOND.same : SECOND.band(round(EDGES[band - 1]), round(EDGES[band]));
  return h("p.hx-al-legend", [
    h("span", SECOND.bands),
    Array.from({ length: EDGES.length + 1 }, (_, band) => h("span.hx-sm-key", { "data-band": band, text: said(band) })),
  ]);
}

bring({ questions: [{ name: "second", behind: SECOND.behind, create: secondMachine }] });
