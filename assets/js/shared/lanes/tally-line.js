/** The figures beside the charts: each with its unit, its formula and its source. */

import { h, say } from "../kit/dom.js";
import { isGreedy } from "../levels/greedy.js";
import { clockOf } from "../levels/overlap.js";
import { brought } from "../../systems/index.js";
import { ofRun, stated } from "../levels/stated.js";
import { fixed, millis, precise, ratio } from "../../../text/numbers.js";
import { CLOCKS, LANES, TALLY } from "../../../text/en/lanes.js";

/** @import {Snapshot} from "../run/figures.js" @import {TraceModel} from "../run/trace.js" */

/** @param {{onDepths: () => void, onTell: (text: string) => void}} ctx
 *  @returns {{el: HTMLElement, update: (model: TraceModel|null, cursor: number) => void}} */
export function tallyLine(ctx) {
  /** @type {Record<string, HTMLElement>} */ const slots = {};
  /** @type {Record<string, HTMLElement>} */ const rooms = {};
  const list = h("dl.hx-figures");
  const knew = h("button.hx-quiet.hx-knew", {
    text: TALLY.depths,
    "data-tip": TALLY.noDepths,
    onclick: () =>
      knew.hasAttribute("aria-disabled") ? ctx.onTell(TALLY.whyNoDepths(TALLY.noDepths)) : ctx.onDepths(),
  });
  const el = h("div.hx-tally", [list, knew]);
  const tips = new Map();
  const made = h("div.hx-figure-made", { tabindex: "0", hidden: true }, [
    h("dd", TALLY.simulated),
    h("dt", TALLY.noModel),
  ]);
  const laid = h("div.hx-figure-made", { tabindex: "0", hidden: true }, [h("dd"), h("dt")]);
  list.append(made, laid);
  const { equal, ...figures } = TALLY.figures;
  const ofSystems = Object.fromEntries(brought.tallies.map(({ name, words }) => [name, words]));
  for (const [key, [name, tip]] of Object.entries({ ...figures, ...ofSystems, equal })) {
    const value = h("dd", "–");
    const slot = h("div", { class: `hx-figure-${key}`, tabindex: "0", "data-tip": tip }, [value, h("dt", name)]);
    list.append(slot);
    tips.set(slot, tip);
    slots[key] = value;
    rooms[key] = slot;
  }
  /** Where levels work at the same time, whose clock it is stands before the figures. @param {string} clock */
  function laidOn(clock) {
    const said = clock === "simulated" ? undefined : CLOCKS[clock];
    laid.hidden = !said;
    if (!said || laid.dataset.tip === said.said) return;
    laid.dataset.tip = said.said;
    say(laid.firstElementChild, said.short);
    say(laid.lastElementChild, said.at);
  }
  /** A simulated run says so before its figures, and in each of them. @param {string} why */
  function madeUp(why) {
    if (made.hidden === !why && (made.dataset.tip ?? "") === why) return;
    made.hidden = !why;
    rooms.equal.hidden = Boolean(why); // every level says the same passage: it could not differ
    made.dataset.tip = why;
    for (const [slot, tip] of tips) slot.dataset.tip = why ? TALLY.simulatedTip(tip) : tip;
  }

  return {
    el,
    update(/** @type {TraceModel|null} */ model, /** @type {number} */ cursor) {
      const s = model?.snapshotAt(cursor);
      const whole = model && cursor >= (model.commitTimes.at(-1) ?? Infinity);
      say(slots.forward, s?.tokens_per_target_forward == null ? "–" : ratio(s.tokens_per_target_forward));
      if (whole && s?.tokens_per_target_forward)
        stated("per_forward", ofRun(model.header), ratio(s.tokens_per_target_forward));
      say(slots.kept, s?.drafts_kept == null ? "–" : `${Math.round(100 * s.drafts_kept)} %`);
      const read = s?.layers_per_token ?? null;
      const layers = model?.levels.at(-1)?.layers;
      rooms.layers.hidden = model?.snapshots.at(-1)?.layers_per_token == null; // of the run, not the moment
      say(slots.layers, read === null ? "\u2013" : layers ? TALLY.of(one(read), layers) : one(read));
      const lanes = s?.lanes ?? null;
      rooms.both.hidden = model?.snapshots.at(-1)?.lanes == null;
      say(slots.both, share(lanes?.both));
      say(slots.both.nextElementSibling, lanes?.lanes ? LANES.two : TALLY.figures.both[0]);
      rooms.moved.hidden = model?.snapshots.at(-1)?.moved_bytes == null;
      say(slots.moved, s?.moved_bytes && s.committed ? moves(s) : "\u2013");
      const last = model?.snapshots.at(-1);
      for (const { name, text } of brought.tallies) {
        rooms[name].hidden = !model || !last || text(last, model) === null; // of the run, not the moment
        say(slots[name], (s && model && text(s, model)) ?? "\u2013");
      }
      say(slots.first, s?.ttft_ms == null ? "–" : millis(s.ttft_ms));
      say(slots.equal, whole ? agreement(model) : "–");
      knew.hidden = !model?.header || Boolean(model.header.simulated);
      madeUp(model?.header?.simulated ?? "");
      laidOn(clockOf(model?.header));
      const known = model?.reports.some((one) => one.notes?.depths);
      knew.dataset.tip = known ? TALLY.depthsTip : TALLY.noDepths;
      if (known) knew.removeAttribute("aria-disabled");
      else knew.setAttribute("aria-disabled", "true");
    },
  };
}

/** "96 / 96"; at a first difference also plain decoding's top-two margin there, which says whether it was a near tie. */
function agreement(/** @type {TraceModel} */ model) {
  const { baseline, committed } = model;
  if (!baseline || !isGreedy(model)) return "–";
  const equal = `${baseline.equal} / ${committed.length}`;
  return baseline.diverges
    ? TALLY.margin(equal, baseline.margin === null ? undefined : precise(baseline.margin, 2))
    : TALLY.equal(equal);
}

const share = (/** @type {number|null|undefined} */ part) =>
  part == null ? "\u2013" : `${Math.round(100 * part)}\u2009%`;
/** @param {Snapshot} s */
const moves = (s) => TALLY.moves(one(s.moved_bytes / 1e3 / s.committed), fixed(s.moved_ms, 1));

const one = (/** @type {number} */ value) => fixed(value, value >= 100 ? 0 : 1);
