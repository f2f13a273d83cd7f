/** What the Planner hands to the Explore tab: a stack for its composer, or a plan to be played without weights. */

import { planText } from "./link.js";

/** @param {string} stack @param {string} preset */
export const useStack = (stack, preset) =>
  document.dispatchEvent(new CustomEvent("hx:use-stack", { detail: { stack, preset } }));

/**
 * Numbers that were typed have no link.
 * @param {any} question what the plan belongs to @param {{levels: string[], blocks: number[], tree?: number[]}} plan
 * @param {{measured: any, named: boolean}} of named: the profile is as it came, and not from a file
 */
export function playPlan(question, { levels, blocks, tree = [] }, { measured, named }) {
  const link = named && !tree.length ? planText(measured, { levels, blocks }) : "";
  const plan = { levels, blocks, tree };
  document.dispatchEvent(new CustomEvent("hx:play-simulated", { detail: { question, plan, link } }));
}
