/** What the tower's floors say of a level: its name, the line below it, its cost per call. */

import { kindOf } from "./kinds.js";
import { fanOf } from "./stack.js";

/** Some levels are known by their kind, the others by their weights. */
export function shortName(level, ran, known) {
  const kind = kindOf(ran?.kind ?? known?.kind ?? level.name);
  if (!kind.labelled.includes("tower")) return kind.title;
  return ran?.label || known?.label || level.name;
}

/** What stands below a level's name: its databases, its layers, or its number format. */
export function noteOf(level, ran, known, share) {
  const tree = fanOf(level);
  const own = ownNote(level, ran, known, share);
  const parts = [own, tree.key === "tree" ? `tree ${tree.value}` : "", +level.options.fuse ? "lookups" : ""];
  return parts.filter(Boolean).join(", ");
}

function ownNote(level, ran, known, share) {
  const kind = kindOf(ran?.kind ?? known?.kind);
  if (kind.keys.includes("db")) {
    const letters = [...(level.options.db ?? ran?.params?.db ?? known?.params?.db ?? "cms")].join(" ");
    const several = fanOf(level).count;
    const databases = several > 1 ? `${several} guesses from ${letters}` : `databases ${letters}`;
    return level.options.miss ? `${databases}, else nano` : databases;
  }
  if (kind.keys.includes("at")) return share || kind.title;
  if (level.options.id)
    return known?.drafts?.find((draft) => draft.name === level.options.id)?.title || level.options.id;
  return level.options.dtype ?? ran?.dtype ?? known?.params?.dtype ?? known?.kind ?? level.name;
}

/** What a plan makes of a level of the run: [words, whether it rests]; [null, false] without a plan. */
export function inPlan(plan, index) {
  if (!plan || index === null) return [null, false];
  const place = plan.levels.indexOf(index);
  if (place < 0) return ["not in the plan", true];
  return [
    place < plan.blocks.length ? `T = ${plan.blocks[place]} in the plan` : "in the plan, signs every token",
    false,
  ];
}

/** A plan in a sentence or two: since when, which levels, and why. */
export const planText = (plan) => `Auto, from round ${plan.round}: ${plan.stack}${plan.why ? ` (${plan.why})` : ""}.`;

/**
 * What a run plans with, and the cure if that was measured elsewhere; as `origin_words` of
 * hsd_core/theory/replanning/replan_words.py.
 */
export function originText({ profile, machine, preset }) {
  const { source, machine: where = "", recorded: day = "" } = profile?.about ?? {};
  if (source === "measured") return `Profile measured on the machine of this run${day && ` on ${day}`}.`;
  if (source !== "shipped" && source !== "given") return "Where the profile was measured is not recorded.";
  const said = `Profile ${source === "given" ? "given" : "shipped with the program"}, measured${where && ` on ${where}`}${day && `, ${day}`}`;
  const alike =
    where === machine ? "another machine of the same description" : `not on the machine of this run, ${machine}`;
  return `${said}: ${alike}, where passes may cost otherwise; python -m hsd_core calibrate --preset ${preset} measures it.`;
}

/** ms per call of a level without forwards, an n-gram lookup: its busy time over its calls. */
export function callsOf(model, cursor, level, figures) {
  const calls = model.figures.calls(cursor, level);
  return calls ? figures.busy_ms / calls : null;
}

/** A level of the run as an entry of the catalogue would describe it. */
export function runLevel(info) {
  return (
    info && {
      ...info,
      usable: true,
      reason: "",
      can_draft: true,
      can_verify: kindOf(info.kind).verifies,
      default_block: info.block,
    }
  );
}
