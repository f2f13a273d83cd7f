/** What takes the room of the lanes while somebody looks closely: the anatomy of a round, the proof of a run, or what
 *  a system brings. One at a time; its key, its place in the address, and the focus that goes back to where it was opened from. */

import { createAnatomy } from "../../shared/anatomy/anatomy.js";
import { SAY } from "../../../text/en/anatomy.js";
import { closest, h } from "../../shared/kit/dom.js";
import { createProof } from "./proof/proof.js";
import { PROOF } from "../../../text/en/proof.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { brought } from "../../systems/index.js";

/** @import {Player} from "../../shared/player/player.js" @import {TraceModel} from "../../shared/run/trace.js"
 *  @import {DeskPart} from "../../systems/index.js" */

const WRITES = 'input, textarea, select, [contenteditable], [role="slider"], [role="tab"], .hx-pop-panel';

/** @param {HTMLElement} stage
 *  @param {{player: Player, clock: HTMLElement, closer: HTMLElement,
 *    onDraw: () => void, selected: () => number|null}} ctx closer: the place of their buttons; selected: the token that the card shows */
export function createDesk(stage, { player, clock, closer, onDraw, selected }) {
  /** @type {string|null} */ let open = null;
  /** @type {HTMLElement|null} */ let from = null; // what had the focus
  /** @type {TraceModel} */ let model = /** @type {any} */ (null); // until a run is shown
  let cursor = 0;
  const ctx = { player, stage, onClose: () => show(null), onChange: onDraw, selected };
  const anatomy = createAnatomy(ctx);
  const desks = [
    { name: "anatomy", key: "a", text: SAY.open, tip: SAY.openTip, part: anatomy },
    ...brought.desks.map((one) => ({ ...one, part: one.create(ctx) })),
    { name: "proof", key: "", text: PROOF.open, tip: PROOF.openTip, part: createProof(ctx) },
  ];
  /** @type {Record<string, DeskPart>} */
  const parts = Object.fromEntries(desks.map(({ name, part }) => [name, part]));
  clock.before(...desks.map(({ part }) => part.el));

  const opener = (/** @type {{name: string, text: string, tip: string}} */ { name, text, tip }) =>
    h("button", {
      class: `hx-quiet hx-open-${name}`,
      "aria-expanded": "false",
      "data-tip": tip,
      text,
      onclick: () => show(open === name ? null : name),
    });
  const openers = Object.fromEntries(desks.map((one) => [one.name, opener(one)]));
  closer.append(...Object.values(openers));

  function show(/** @type {string|null} */ name) {
    if (name === open) return;
    if (!open) from = /** @type {HTMLElement} */ (document.activeElement);
    if (open) parts[open].closed?.();
    open = name;
    for (const [own, part] of Object.entries(parts)) part.el.hidden = own !== name;
    for (const [own, button] of Object.entries(openers)) button.setAttribute("aria-expanded", String(own === name));
    if (name) stage.dataset.desk = name;
    else delete stage.dataset.desk;
    setQuery(Object.fromEntries(Object.keys(parts).map((own) => [own, own === name ? "1" : null])));
    onDraw();
    if (name) parts[name].title.focus({ preventScroll: true });
    else if (from?.isConnected && from !== document.body) from.focus({ preventScroll: true });
    else openers.anatomy.focus({ preventScroll: true });
  }

  /** The round of a token, at the last event before the cursor that it had a part in; else at its draft. */
  function openAt(/** @type {number} */ serial) {
    const record = model?.tokens.get(serial);
    if (!record) return;
    const moments = [record.tDraft, ...record.judgements.map((j) => j.t)].filter((t) => t <= cursor);
    const t = moments.at(-1) ?? record.tDraft;
    player.pause();
    player.seek(model.marks.find((m) => m.t >= t)?.t ?? t);
    cursor = player.cursor;
    anatomy.update(model, cursor);
    anatomy.choose(serial);
    show("anatomy");
  }

  stage.addEventListener("click", (event) => {
    const asked = closest(event, "[data-anatomy]");
    if (asked) openAt(Number(asked.dataset.anatomy));
  });
  stage.addEventListener("dblclick", (event) => {
    if (!closest(event, ".hx-lane-area")) return;
    player.pause();
    show("anatomy");
  });
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || !stage.offsetParent) return;
    const asked = desks.find((one) => one.key === key.toLowerCase());
    if (key === "Escape" && open && !closest(event, ".hx-pop")) show(null);
    else if (target instanceof Element && target.closest(WRITES)) return;
    else if (asked) show(open === asked.name ? null : asked.name);
    else if (!open || !parts[open].key(key)) return;
    event.preventDefault();
  });

  return {
    /** What the other views should show while it is open. */
    view: () => (open && model ? { selected: parts[open].selected, sources: parts[open].sources } : {}),
    update(/** @type {TraceModel} */ next, /** @type {number} */ to) {
      model = next;
      cursor = to;
      if (open) parts[open].update(next, to);
    },
    /** `?anatomy=1`, `?proof=1` and the others open them. */
    begin() {
      const asked = new URLSearchParams(location.search);
      show(Object.keys(parts).find((name) => asked.get(name) === "1") ?? null);
    },
  };
}
