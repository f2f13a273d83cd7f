/** What the chosen benchmark says: its headline, how sure it is, why, and who loses. Every figure is the benchmark's. */

import { h } from "../../shared/kit/dom.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { ofBench, stated } from "../../shared/levels/stated.js";
import { brought } from "../../systems/index.js";
import { optionOf } from "./machine-picker.js";
import { CLAIM } from "../../../text/en/results.js";
import { ratio } from "../../../text/numbers.js";

/** @import {Claim, Claimed, Column} from "./columns.js" */

/** What a stack is called among those of its benchmark. @param {Column} column @param {string} stack */
const called = ({ stacks }, stack) => stackNames([...stacks.map((row) => row.stack), stack]).get(stack) ?? stack;

const ends = (/** @type {[number, number]} */ [low, high]) => ({ low: ratio(low), high: ratio(high) });

/** The sentences, the first as the headline.
 *  @param {Column} column @param {string} [usual] the preset's default stack @returns {string[]} */
export function sentences(column, usual) {
  const { claim, about } = column.results;
  const first = claim?.best[0];
  if (!first) return [CLAIM.none];
  // Which number of levels is best is nothing that a few chosen stacks say.
  const chosen = Boolean(usual) && !column.stacks.some((row) => row.asked === "default" || row.stack === usual);
  const [, ...rest] = chosen ? [first] : claim.best;
  const of = ofBench(about, first.stack);
  const told = (/** @type {Claimed} */ one) => stated("speed_up", ofBench(about, one.stack), ratio(one.speed_up));
  const gain = { levels: first.levels, gain: told(first), ...ends(first.interval) };
  const others = rest.map((one) => ({ levels: one.levels, gain: told(one) }));
  return [
    first.speed_up <= 1 ? CLAIM.noGain(gain) : chosen ? CLAIM.ofChosen(gain) : CLAIM.headline(gain, others),
    ...(chosen ? [CLAIM.chosen] : claim.over ? [sure(claim, column.stacks[0].prompts, of)] : []),
    CLAIM.why(
      called(column, first.stack),
      ratio(first.passes),
      stated("per_forward", of, ratio(first.tokens)),
      about.dtype,
    ),
    ...claim.loses.map((one) => lost(one, column)),
  ];
}

/** @param {Claim} claim @param {number} prompts @param {string} of the first stack */
function sure({ over, best: [first, second] }, prompts, of) {
  const gain = { gain: stated("over", of, ratio(over?.speed_up ?? 1)), ...ends(over?.interval ?? [1, 1]) };
  return (over?.interval[0] ?? 0) > 1
    ? CLAIM.sure(first.levels, second.levels, gain)
    : CLAIM.unsure(first.levels, second.levels, gain, prompts);
}

/** @param {Claimed} one @param {Column} column */
function lost(one, column) {
  const gain = { gain: ratio(one.speed_up), ...ends(one.interval) };
  const said = CLAIM.loses(whoLoses(column, one.stack), gain, ratio(one.passes), ratio(one.tokens));
  const known = column.lost[one.stack] ?? {};
  const why = brought.losses.map(({ name, why }) => (name in known ? why(known[name]) : "")).filter(Boolean);
  return [said, ...why].join(" ");
}

/** A stack that loses, as its system calls it. @param {Column} column @param {string} stack */
const whoLoses = (column, stack) =>
  brought.losses.map(({ called }) => called(stack)).find(Boolean) || CLAIM.lose(called(column, stack));

/** @param {Column} column @param {string|undefined} usual the preset's default stack
 *  @param {{column: Column, onPick: () => void}|null} elsewhere another machine's, where a stack loses
 *  @param {{what: string}[]} missing machines without a benchmark of this preset */
export function claimPanel(column, usual, elsewhere, missing) {
  const [headline, ...rest] = sentences(column, usual);
  const { about } = column.results;
  const facts = CLAIM.facts(column.name, column.stacks[0].prompts, about.max_new_tokens, column.when);
  const lost = elsewhere?.column.results.claim?.loses[0];
  return h("section.hx-panel.hx-res-claim", { "aria-label": CLAIM.label }, [
    h("h2.hx-res-headline", { tabindex: "-1", text: headline }),
    h("p.hx-res-of", column.early ? `${facts} · ${column.said}` : facts),
    rest.map((text) => h("p", text)),
    lost &&
      elsewhere &&
      h("p", [
        CLAIM.noneLoses,
        h("button.hx-res-link", {
          text: CLAIM.elsewhere(
            whoLoses(elsewhere.column, lost.stack),
            ratio(lost.speed_up),
            optionOf(elsewhere.column.results),
          ),
          onclick: elsewhere.onPick,
        }),
      ]),
    missing.length > 0 && h("p.hx-res-of", CLAIM.lacking(missing.map(({ what }) => what))),
  ]);
}
