/** What is added where lanes work at the same time: the arrow of one round, a line of words, and a walk from round to
 *  round with the keyboard. */

import { clockOf, lanesUsed, overlaps } from "../../shared/levels/overlap.js";
import { roundNumber } from "../../shared/kit/round-number.js";
import { element, say } from "../../shared/kit/dom.js";
import { upTo } from "../../shared/kit/order.js";
import { set, svg } from "../../shared/kit/svg.js";
import { arrowGroup, atOnce, drawArrow, meanwhile, strip, told } from "./meanwhile.js";
import { usedText } from "../../shared/lanes/lane-words.js";
import { LANES } from "../../../text/en/lanes.js";

/** @typedef {import("../../shared/run/trace.js").TraceModel} Model */
/** @typedef {{model: Model, cursor: number, veiled: boolean, round: number|null, own: boolean}} Seen round: one that somebody
 *  singled out; own: whether the last verdict before the cursor is shown where nobody did */

/**
 * @param {HTMLElement} area where the lanes are drawn @param {HTMLElement} host the line of words is put at its end
 * @param {{onSeek?: (ns: number) => void, redraw: () => void, signal: AbortSignal}} ctx
 */
export function twoLanes(area, host, { onSeek, redraw, signal }) {
  const line = host.appendChild(element("p", "hx-lane-said"));
  line.hidden = true;
  /** @type {Seen|null} */ let now = null;
  /** @type {{key: string, found: import("./meanwhile.js").Meanwhile|null}|null} */ let last = null;
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
      both = svg("path", { class: "hx-lane-both" }, root);
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
