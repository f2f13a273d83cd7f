/** The catalogue as the server has it now: a target of the Hub is known better once the Hub was asked, or it is here. */

import { translated } from "../../../text/heard.js";

/** @import {Preset} from "../levels/stack.js" @import {Calls} from "./session.js" */

const AGAIN_MS = 2000;
const MOST = 15; // times that the page asks while the server is still finding out

/** The one reason why none of these presets can be used; "" where they have several. @param {{reason?: string}[]} presets */
export function reasonOf(presets) {
  const reasons = new Set(presets.map((one) => one.reason ?? ""));
  return reasons.size === 1 ? [...reasons][0] : "";
}

/** @param {{setup: Record<string, any>, call: Calls, onNews: () => void}} ctx onNews: the
 *    catalogue of the setup has changed */
export function keepCatalogue({ setup, call, onNews }) {
  const ask = async (/** @type {number} */ times) => {
    const found = await call.offered({}).catch(() => null); // what is known already stays
    if (!Array.isArray(found?.catalogue)) return;
    found.catalogue = translated(found.catalogue);
    const changed = JSON.stringify(found.catalogue) !== JSON.stringify(setup.catalogue);
    if (changed) {
      setup.catalogue.splice(0, setup.catalogue.length, ...found.catalogue);
      onNews();
    }
    if (!found.settled && times > 1) setTimeout(() => ask(times - 1), AGAIN_MS);
  };
  return {
    /** Once, when the page is there: only what an operator named can change. */
    begin() {
      if (setup.catalogue.some((/** @type {Preset} */ one) => one.target)) void ask(MOST);
    },
    /** Something of this machine is known that was not. */
    again: () => void ask(1),
    /** A run of this preset is there. @param {Preset|undefined} preset of the catalogue */
    ran(preset) {
      if (preset?.target && preset.needs_download) void ask(1);
    },
  };
}

// ---- What is known before a run is asked for: how many come before it, and how many answers this server writes in a minute.

const PACE_MS = 20_000;

/** @typedef {{ahead: number, answers: number|null}} Pace answers: null while none was measured
 *  @param {{call: Calls, idle: () => boolean, onNews: (pace: Pace) => void}} ctx idle: whether no
 *    run of one's own goes on */
export function keepPace({ call, idle, onNews }) {
  const ask = async () => {
    if (document.hidden || !idle()) return;
    const found = await call.pace({}).catch(() => null); // of a server that does not answer nothing is known
    onNews({ ahead: found?.ahead ?? 0, answers: found?.answers ?? null });
  };
  void ask();
  setInterval(ask, PACE_MS);
  document.addEventListener("visibilitychange", ask);
}
