/** What is added where lanes work at the same time: the arrow of one round, a line of words, and a walk from round to
 *  round with the keyboard. */

import { clockOf, lanesUsed, overlaps, lanesOf } from "../../shared/levels/overlap.js";
import { roundNumber } from "../../shared/kit/round-number.js";
import { element, say } from "../../shared/kit/dom.js";
import { upTo } from "../../shared/kit/order.js";
import { set, svg } from "../../shared/kit/svg.js";
import { usedText } from "../../shared/lanes/lane-words.js";
import { LANES } from "../../../text/en/lanes.js";

/** @import {TraceModel as Model, Segment} from "../../shared/run/trace.js" */

/** @typedef {{model: Model, cursor: number, veiled: boolean, round: number|null, own: boolean}} Seen round: one that somebody
 *  singled out; own: whether the last verdict before the cursor is shown where nobody did */

/** @param {HTMLElement} area where the lanes are drawn @param {HTMLElement} host the line of words is put at its end
 *  @param {{onSeek?: (ns: number) => void, redraw: () => void, signal: AbortSignal}} ctx */
export function twoLanes(area, host, { onSeek, redraw, signal }) {
  const line = host.appendChild(element("p", "hx-lane-said"));
  line.hidden = true;
  /** @type {Seen|null} */ let now = null;
  /** @type {{key: string, found: Meanwhile|null}|null} */ let last = null;
  const settled = (/** @type {Seen} */ { model, cursor }) => upTo(model.rounds, cursor, (one) => one.t1) - 1;

  function step(/** @type {KeyboardEvent} */ event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !now || !onSeek || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const round = now.model.rounds[Math.max(0, settled(now) + by)];
    if (round) onSeek(round.t1);
    event.preventDefault();
    event.stopPropagation();
  }
  for (const name of ["focus", "blur"]) area.addEventListener(name, redraw, { signal });
  area.addEventListener("keydown", step, { signal });

  /** @type {any} */ let arrow = null;
  /** @type {any} */ let both = null;

  return {
    /** What is drawn among the blocks, and over them. @param {SVGElement} root @param {SVGElement} over */
    lay(root, over) {
      both = svg("path.hx-lane-both", {}, root);
      arrow = arrowGroup(over);
    },
    /** The blocks of the times that are shown were drawn. @param {Model} model @param {any} scale @param {number} until ns */
    blocks: (model, scale, until) => set(both, { d: strip(atOnce(model), scale, until) }),
    /** Another run is shown. @param {Model} model */
    attend(model) {
      const two = overlaps(model.header);
      line.hidden = !two;
      last = null;
      if (two && onSeek) {
        area.tabIndex = 0;
        area.setAttribute("role", "group");
        area.setAttribute("aria-label", LANES.focus);
      } else for (const name of ["tabindex", "role", "aria-label"]) area.removeAttribute(name);
    },
    /** @param {Seen} seen @param {any} scale */
    draw(seen, scale) {
      const { model, cursor, veiled, round } = seen;
      now = seen;
      if (line.hidden) return;
      const own = seen.own || document.activeElement === area;
      const place = round !== null ? model.rounds.findIndex((one) => one.round === round) : own ? settled(seen) : -1;
      const key = [model.version, place].join();
      if (last?.key !== key) last = { key, found: meanwhile(model, place) };
      const known = place >= 0 && (!veiled || model.rounds[place].t1 <= cursor);
      drawArrow(arrow, known ? last.found : null, scale);
      const said = known
        ? last.found
          ? LANES.meanwhile(told(model, last.found))
          : LANES.alone(roundNumber(model.rounds[place].round))
        : veiled
          ? ""
          : usedText(model.snapshotAt(cursor)?.lanes ?? null, model);
      say(line, [LANES.titleOf[clockOf(model.header)]?.(lanesUsed(model.header)), said].filter(Boolean).join(": "));
    },
  };
}

// Lanes at once: when two or more are at work, what was drafted while the target verified, and what became of it.

/** A pass of the target and the block that was drafted meanwhile: `from`, `to` (ns) its calls, on the lane of `level`;
 *  `verdict` (ns) when the pass was judged; `kept`: whether nothing was dropped then.
 *  @typedef {{round: number, pass: Segment, level: number, from: number, to: number, drafted: number, verdict: number, kept: boolean}} Meanwhile
 */

const HEAD = 4; // px, of an arrow
const STRIP = 3; // px
const LEAST = 14; // px of a block that an arrow can point at

/** What was drafted in a round while the target verified; null where nothing was, or one level works after another.
 *  @param {Model} model @param {number} place of the round among the rounds @returns {Meanwhile|null} */
export function meanwhile(model, place) {
  const round = model.rounds[place];
  const top = model.levels.length - 1;
  if (!round || !overlaps(model.header)) return null;
  const pass = round.segments.find((s) => s.level === top && s.kind === "verify");
  if (!pass) return null;
  const beside = model.segments.filter(
    (s) => s.level < top && s.round !== null && s.t0 < round.t1 && s.t1 > pass.t0 && s.t1 > s.t0,
  );
  if (!beside.length) return null;
  const level = Math.max(...beside.map((s) => s.level)); // what it hands up has passed all below
  const own = beside.filter((s) => s.level === level);
  return {
    ...{ round: round.round, pass, level, verdict: round.t1 },
    kept: !pass.fell && !beside.some((s) => s.stale && s.t1 >= round.t1), // what is under way then falls when it is over
    from: Math.min(...beside.map((s) => s.t0)),
    to: Math.max(...beside.map((s) => s.t1)),
    drafted: own.reduce((sum, s) => sum + s.tokensOut, 0),
  };
}

/** The times (ns, from and to) in which at least two lanes are at work. @param {Model} model @returns {[number, number][]} */
export function atOnce({ segments, header }) {
  if (!overlaps(header)) return [];
  const lanes = lanesOf(header);
  const edges = segments
    .filter((s) => s.round !== null && s.t1 > s.t0)
    .flatMap(({ t0, t1, level }) => [t0, t1].map((t, over) => ({ t, by: over ? -1 : 1, lane: lanes[level] ?? level })))
    .sort((a, b) => a.t - b.t || a.by - b.by);
  /** @type {[number, number][]} */ const found = [];
  /** @type {Map<number, number>} calls by lane */ const calls = new Map();
  for (const { t, by, lane } of edges) {
    const before = calls.size;
    const now = (calls.get(lane) ?? 0) + by;
    if (now) calls.set(lane, now);
    else calls.delete(lane);
    const last = found.at(-1);
    if (before < 2 && calls.size === 2 && last?.[1] !== t) found.push([t, t]);
    else if (before === 2 && calls.size < 2 && last) last[1] = t;
  }
  return found;
}

/** Path data of a strip between the target's lane and the next one. @param {[number, number][]} times @param {any} scale @param {number} until ns */
export function strip(times, { a, b, x, lane, width }, until) {
  return times
    .filter(([from, to]) => to > a && from < b && to <= until)
    .map(([from, to]) => {
      const [left, right] = [Math.max(0, x(from)), Math.min(width, x(to))];
      return `M${left.toFixed(1)} ${lane - STRIP / 2}h${Math.max(0.5, right - left).toFixed(1)}v${STRIP}H${left.toFixed(1)}z`;
    })
    .join("");
}

/** What `drawArrow` fills. @param {SVGElement} sheet */
function arrowGroup(sheet) {
  const group = svg("g.hx-mean", {}, sheet);
  for (const name of ["frame", "halo", "line", "head"]) svg("path", { class: `hx-mean-${name}` }, group);
  return group;
}

/** The arrow from a verdict to the block that was drafted meanwhile; nothing where it is not in sight.
 *  @param {any} group @param {Meanwhile|null} found @param {any} scale */
function drawArrow(group, found, { a, b, x, y, lane, width }) {
  const [frame, halo, line, head] = group.children;
  const seen = found && found.to > a && found.from < b && found.verdict >= a && found.pass.t0 <= b ? found : null;
  const clip = (/** @type {number} */ t) => Math.min(width, Math.max(0, x(t)));
  group.classList.toggle("hx-mean-lost", seen?.kept === false);
  if (seen) group.dataset.round = String(seen.round);
  else delete group.dataset.round;
  if (!seen) {
    for (const part of [frame, halo, line, head]) set(part, { d: "" });
    return;
  }
  const [left, right] = [clip(seen.from), clip(seen.to)];
  const high = lane - 3;
  const bed = y(seen.level) + 1.5;
  const roof = y(seen.pass.level) + 1.5;
  const outline = (/** @type {number} */ l, /** @type {number} */ r, /** @type {number} */ top) =>
    `M${l.toFixed(1)} ${top}H${Math.max(l + 2, r).toFixed(1)}v${high}H${l.toFixed(1)}z`;
  set(frame, { d: outline(left, right, bed) + outline(clip(seen.pass.t0), clip(seen.pass.t1), roof) });
  const arrow = right - left >= LEAST;
  const [x0, y0] = [clip(seen.pass.t1) - 3, roof + high * 0.5];
  const [x1, y1] = [left + Math.min(0.3 * (right - left), 24), bed + high * 0.42];
  const bend = (y1 - y0) * 0.8;
  const way = `M${x0.toFixed(1)} ${y0.toFixed(1)}C${x0.toFixed(1)} ${(y0 + bend).toFixed(1)} ${x1.toFixed(1)} ${(y1 - bend).toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
  set(halo, { d: arrow ? way : "" });
  set(line, { d: arrow ? way : "" });
  set(head, {
    d: arrow
      ? `M${(x1 - HEAD).toFixed(1)} ${(y1 - HEAD).toFixed(1)}h${2 * HEAD}L${x1.toFixed(1)} ${(y1 + 2).toFixed(1)}z`
      : "",
  });
}

/** What is told of a round. @param {Model} model @param {Meanwhile} found */
export const told = (model, { round, level, drafted, kept }) => ({
  round: roundNumber(round),
  who: model.levels[level].name,
  drafted,
  kept,
});
