/** What the Planner takes from the address and hands on: which profile, where the sliders stand, and stacks for
 *  Explore. Levels go by their numbers, cheapest first. Numbers that were typed into the tables are not in it:
 *  those are downloaded as a profile. */

import { setQuery } from "../../shared/kit/tabs.js";
import { PLANNER } from "../../../text/en/planner.js";

/** @import {Turned} from "./ahead/plans-ahead.js" @import {Question} from "./another/asker.js"
 *  @import {Profile, Source} from "./profile/profile.js" */

/** @typedef {{agreement: number|null, share: number|null}} Asked */

const SETTLE_MS = 300; // browsers refuse an address that changes at every step of a slider
let waiting = 0;

/** What a profile starts with. @param {Profile} profile @returns {Turned} */
export const still = (profile) => ({
  max_block: profile.max_block ?? 16,
  rejections: 1,
  cost: { level: profile.levels.at(-2)?.name ?? profile.levels[0].name, factor: 1 },
  levels: profile.levels.map(() => true),
});

/** The profile that the address names: [source, place of its temperature], or null.
 *  @param {Source[]} sources @returns {[Source, number]|null} */
export function linked(sources) {
  const query = new URLSearchParams(location.search);
  const source = sources.find((one) => one.id === query.get("profile") && one.profiles.length);
  if (!source) return null;
  const at = source.profiles.findIndex((profile) => String(profile.temperature ?? 0) === query.get("heat"));
  return [source, Math.max(0, at)];
}

/** The profile that is shown where the address names none: one of the model that it names, else the first. */
export function usual(/** @type {Source[]} */ sources) {
  const there = sources.filter((one) => one.profiles.length);
  const preset = new URLSearchParams(location.search).get("preset");
  return there.find((one) => one.preset === preset) ?? there[0];
}

/** The sliders as the address sets them; what is not a valid setting stays at rest. */
export function turnedBy(/** @type {Profile} */ profile, /** @type {Record<string, number[]>} */ limits) {
  const query = new URLSearchParams(location.search);
  const turned = still(profile);
  const top = profile.levels.length - 1;
  /** @param {string|null} text @param {number[]} range */
  const within = (text, [low, high]) => (text && +text >= low && +text <= high ? +text : null);
  const longest = within(query.get("longest"), limits.max_block);
  if (longest !== null && Number.isInteger(longest)) turned.max_block = longest;
  turned.rejections = within(query.get("rejections"), limits.rejections) ?? 1;
  const [level, factor] = (query.get("cost") ?? "").split("x");
  const slowed = profile.levels[/** @type {any} */ (level)]; // a text is no place of a level where it is no number
  if (slowed && within(factor, limits.cost)) turned.cost = { level: slowed.name, factor: +factor };
  for (const i of (query.get("without") ?? "").split("."))
    if (i !== "" && +i < top && i in turned.levels) turned.levels[+i] = false;
  return turned;
}

/** Where the two sliders of the first question stand; null for the profile's own numbers. */
export function askedOfAnother() {
  const query = new URLSearchParams(location.search);
  const share = (/** @type {string} */ name, /** @type {number} */ most) => {
    const text = query.get(name);
    return text !== null && +text > 0 && +text <= most ? +text : null;
  };
  return { agreement: share("agrees", 1), share: share("pass", 2) };
}

/** What the address opens: by name, or because it sets what stands inside. @returns {Set<string>} */
export function openedBy() {
  const query = new URLSearchParams(location.search);
  const named = (query.get("data") ?? "").split(",").filter(Boolean);
  const turned = ["longest", "rejections", "cost", "without"].some((name) => query.has(name));
  return new Set(turned ? [...named, "whatif"] : named);
}

/** Writes them, once the sliders are at rest. A profile from a file has no address.
 *  @param {Source[]} sources @param {Source} source @param {Profile} profile @param {Turned} turned
 *  @param {Asked} asked */
export function writeLink(sources, source, profile, turned, asked) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const rest = still(profile);
    const named = !source.id.startsWith("file:");
    const level = profile.levels.findIndex((one) => one.name === turned.cost.level);
    const without = turned.levels.flatMap((allowed, i) => (allowed ? [] : [i]));
    /** @param {boolean} usual @param {string|number} text */
    const unless = (usual, text) => (usual || !named ? null : String(text));
    setQuery({
      profile: unless(source === usual(sources), source.id),
      heat: unless(source.profiles[0].temperature === profile.temperature, profile.temperature ?? 0),
      longest: unless(turned.max_block === rest.max_block, turned.max_block),
      rejections: unless(turned.rejections === 1, turned.rejections),
      cost: unless(turned.cost.factor === 1, `${level}x${+turned.cost.factor.toFixed(3)}`),
      agrees: unless(asked.agreement === null, +(asked.agreement ?? 0).toFixed(4)),
      pass: unless(asked.share === null, +(asked.share ?? 0).toFixed(4)),
      without: unless(!without.length, without.join(".")),
    });
  }, SETTLE_MS);
}

/** A plan in the address: "0:3.1:6.3", levels by number, each but the last with its block length.
 *  @param {Profile} profile @param {{levels: string[], blocks: number[]}} plan */
export const planText = (profile, { levels, blocks }) =>
  levels
    .map((name, i) =>
      [profile.levels.findIndex((level) => level.name === name), blocks[i]]
        .filter((part) => part !== undefined)
        .join(":"),
    )
    .join(".");

/** The plan that a link plays, {levels, blocks}, or null. @param {Profile} profile @param {string} text */
export function linkedPlan(profile, text) {
  const parts = text.split(".").map((part) => part.match(/^(\d+)(?::(\d+))?$/) ?? []);
  const levels = parts.map(([, level]) => profile.levels[Number(level)]?.name);
  return levels.every(Boolean) ? { levels, blocks: parts.slice(0, -1).map(([, , block]) => Number(block)) } : null;
}

// What the Planner hands to the Explore tab: a stack for its composer, or a plan to be played without weights.

/** @param {string} stack @param {string} preset */
export const useStack = (stack, preset) =>
  document.dispatchEvent(new CustomEvent("hx:use-stack", { detail: { stack, preset } }));

/** Numbers that were typed have no link.
 *  @param {Question} question what the plan belongs to @param {{levels: string[], blocks: number[], tree?: number[]}} plan
 *  @param {{measured: Profile, named: boolean}} of named: the profile is as it came, and not from a file */
export function playPlan(question, { levels, blocks, tree = [] }, { measured, named }) {
  const link = named && !tree.length ? planText(measured, { levels, blocks }) : "";
  const plan = { levels, blocks, tree };
  document.dispatchEvent(new CustomEvent("hx:play-simulated", { detail: { question, plan, link } }));
}

// The profiles that there are, and which of them the tab shows first.

const HOW = "python -m hsd_core calibrate";

/** @param {string} url @returns {Promise<{sources: Source[], how: string, by_length?: [string, string][], fault: string}>}
 *    by_length: presets and devices that have profiles by length; fault: why there are none */
export async function listedProfiles(url) {
  try {
    return { ...(await (await fetch(url)).json()), fault: "" };
  } catch {
    return { sources: [], how: HOW, fault: PLANNER.noServer };
  }
}

/** The one that the address names, else the best; why it is another than was asked for. @param {Source[]} sources */
export function firstProfile(sources) {
  const query = new URLSearchParams(location.search);
  const asked = linked(sources);
  const [source, at] = asked ?? [usual(sources), 0];
  const lost = asked ? null : query.get("profile"); // a link from another machine
  const preset = asked ? null : query.get("preset");
  const other = preset && source && source.preset !== preset;
  const instead = other ? PLANNER.noneOf(preset.slice(0, 80), source.title) : "";
  return { source, at, lost: lost ? PLANNER.lost(lost.slice(0, 80)) : "", instead };
}
