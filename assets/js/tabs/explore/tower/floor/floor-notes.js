/** What the tower's floors say of a level: the line below its name, its cost per call. */

import { kindOf } from "../../../../shared/levels/kinds.js";
import { roundNumber } from "../../../../shared/kit/round-number.js";
import { fanOf } from "../../../../shared/levels/stack.js";
import { stackName } from "../../../../shared/levels/stack-names.js";
import { heard } from "../../../../../text/heard.js";
import { FLOOR, PLAN } from "../../../../../text/en/tower.js";

/** @import {Entry, Level} from "../../../../shared/levels/stack.js"
 *  @import {LevelInfo, Plan} from "../../../../shared/run/events.js"
 *  @import {TraceModel} from "../../../../shared/run/trace.js" */

/** What stands below a level's name: its databases, its layers, or its weights and their number format.
 *  @param {Level} level @param {LevelInfo|null} ran @param {Entry|null} known @param {string} share */
export function noteOf(level, ran, known, share) {
  const { key, value } = fanOf(level);
  const own = ownNote(level, ran, known, share);
  const shaped = key === "tree" ? FLOOR.tree : key === "grow" ? FLOOR.dynamic : null;
  const parts = [
    own,
    shaped?.(value, +level.options.replace > 0) ?? "",
    +level.options.fuse ? FLOOR.lookups : "",
    ran?.params?.undrafted ? FLOOR.undrafted(ran.params.undrafted) : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/** @param {Level} level @param {LevelInfo|null} ran @param {Entry|null} known @param {string} share */
function ownNote(level, ran, known, share) {
  const kind = kindOf(ran?.kind ?? known?.kind);
  if (kind.keys.includes("db")) {
    const letters = sourcesOf(level.options.db ?? ran?.params?.db ?? known?.params?.db ?? "cms");
    const several = fanOf(level).count;
    const databases = several > 1 ? FLOOR.guesses(several, letters) : FLOOR.databases(letters);
    return level.options.miss ? FLOOR.orElse(databases, level.options.miss) : databases;
  }
  if (kind.keys.includes("at")) return share || kind.title;
  if (level.options.id)
    return known?.drafts?.find((draft) => draft.name === level.options.id)?.title || level.options.id;
  const dtype = level.options.dtype ?? ran?.dtype ?? known?.params?.dtype ?? "";
  const label = kind.reads?.weights ? "" : (ran?.label ?? known?.label ?? ""); // a copy's are the target's
  return [heard(label), dtype].filter(Boolean).join(", ") || kind.name;
}

/** The databases of a key's value: letters, and files by their names alone. @param {string} value */
const sourcesOf = (value) =>
  value
    .split("+")
    .flatMap((part) => (part.includes(".") ? part.replace(/^.*[\\/]/, "") : [...part]))
    .join(" ");

/** What a plan makes of a level of the run: [words, whether it rests]; [null, false] without a plan.
 *  @param {Plan|null} plan @param {number|null} index @returns {[string|null, boolean]} */
export function inPlan(plan, index) {
  if (!plan || index === null) return [null, false];
  const place = plan.levels.indexOf(index);
  if (place < 0) return [PLAN.out, true];
  return [place < plan.blocks.length ? PLAN.block(plan.blocks[place]) : PLAN.top, false];
}

/** A plan in a sentence or two: since when, which levels, and why. auto: whether levels are chosen while it runs. */
export const planText = (/** @type {Plan} */ plan, auto = true) =>
  (auto ? PLAN.is : PLAN.left)(roundNumber(plan.round), stackName(plan.stack), plan.why);

/** What a run plans with, and the cure if that was measured elsewhere; as `origin_words` of
 *  hsd_core/theory/plan_reasons.py.
 *  @param {{profile: Record<string, any>|null, machine: string, preset: string|null, option?: string}} of */
export function originText({ profile, machine, preset, option = PLAN.ofPreset(preset ?? "") }) {
  const { source, machine: where = "", recorded: day = "" } = profile?.about ?? {};
  if (source === "measured") return PLAN.here(day);
  if (source !== "shipped" && source !== "given") return PLAN.unknown;
  return PLAN.elsewhere({ given: source === "given", where, day, machine, option });
}

/** ms per call of a level without forwards, an n-gram lookup: its busy time over its calls.
 *  @param {TraceModel} model @param {number} cursor @param {number} level @param {{busy_ms: number}} figures */
export function callsOf(model, cursor, level, figures) {
  const calls = model.figures.calls(cursor, level);
  return calls ? figures.busy_ms / calls : null;
}

/** A level of the run as an entry of the catalogue would describe it. @param {LevelInfo|null|undefined} info @returns {Entry|null} */
export function runLevel(info) {
  return info
    ? {
        ...info,
        usable: true,
        reason: "",
        can_draft: true,
        can_verify: kindOf(info.kind).verifies,
        default_block: info.block,
      }
    : null;
}
