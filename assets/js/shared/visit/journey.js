/** From run to run: what is shown, what goes on aside, and the way back to both, also after the page was reloaded. */

import { h, say } from "../kit/dom.js";
import { openTab } from "../kit/tabs.js";
import { pendingBefore } from "./pending.js";
import { ASIDE, JOURNEY } from "../../../text/en/page.js";

/** @import {Feed} from "../run/trace.js" @import {Payload, Session} from "./session.js"
 *  @import {Wish} from "./wish.js" */

export const RECORDED = "recorded-"; // the name of a bundled recording's run begins so
const KEPT_FILES = 4; // opened files that Back can show again

export class Journey {
  /** @param {{session: Session, feed: Feed, wish: Wish,
   *    tail: (asked: {run: string, from: number}) => Promise<any>, apply: (payload: Payload) => void,
   *    tell: (text: string, kind?: string) => void, busy: () => void, refresh: () => void,
   *    attempt: (action: () => Promise<void>) => Promise<void>}} page tail: what the server has of a run; attempt: says what
   *    an action throws */
  constructor(page) {
    this.page = page;
    /** @type {string|null} */ this.wanted = null; // the live run that is shown as soon as it has something to show
    /** @type {{run: string, request: Record<string, any>}|null} */ this.asked = null; // the last live run, and its request
    /** @type {Map<string, Payload>} */ this.files = new Map(); // opened; the server keeps none
    this.why = ""; // why the server has nothing of the run that was looked for last
    this.aside = new Aside((run) => this._return(run));
    /** @type {Promise<void>|null} */ this.travelling = null; // to the run of an entry of the history
    this.trail = new Trail((run) => (this.travelling = Promise.resolve(this._travel(run))));
  }

  /** Another run is shown: the history says so, and one that is not over goes on aside.
   *  @param {string} run @param {boolean} live @param {Payload} payload */
  shows(run, live, payload) {
    const { session } = this.page;
    const { settings } = this.page.wish;
    const bundled = run.startsWith(RECORDED);
    this.trail.shows(run);
    if (!bundled) settings.recording = "";
    if (live) settings.simulated = "";
    else if (!this.trail.still) this.wanted = null;
    if (!bundled && payload.status.mode === "recorded") {
      this.files.set(run, payload);
      if (this.files.size > KEPT_FILES) this.files.delete(this.files.keys().next().value ?? "");
    }
    if (run === this.aside.run) this.aside.hide();
    if (session.pending && session.pending !== run && session.pending !== this.wanted)
      this.aside.show(session.pending, this._how(false));
  }

  /** The settings are those of the run that is shown: whoever comes back to it finds them, whatever was typed since.
   *  @param {string} run */
  settles(run) {
    const { trail, asked } = this;
    if (trail.run === run && !trail.asked) trail.keeps(asked?.run === run ? asked.request : this.page.wish.request());
  }

  /** A payload of the pending run while something else is shown. @param {Payload} payload */
  hear({ run, from, ev, final, status }) {
    const unbegun = final && !ev.length && !from;
    if (status.mode === "error" || unbegun) {
      this.aside.hide();
      this.page.tell(status.text, status.mode === "error" ? "error" : "");
    } else this.aside.show(run, this._how(final));
    this.page.busy();
  }

  /** After the page was reloaded: goes on with the run that was pending, and shows what was shown; what is to be said. */
  async comeBack() {
    const { session } = this.page;
    const { run } = this.trail;
    const live = run && !run.startsWith(RECORDED) ? run : null;
    const pending = pendingBefore();
    const found = pending ? await this._find(pending) : null;
    if (found && !found.final) session.resume(found.run);
    // One that had not begun was not left for anything else.
    const shown = found && (live === pending || !run || !found.ev.length) ? found : live && (await this._findAny(live));
    if (shown) {
      this.wanted = shown.run;
      this.page.apply(shown);
    }
    if (found && shown !== found) this.aside.show(found.run, this._how(found.final));
    if (pending && !found) return [this.why];
    return live && !shown && !location.hash.startsWith("#run=") ? [JOURNEY.lost] : []; // else the address holds it
  }

  /** What the server or this browser has of a run, or of an opened file; null where neither has anything. @param {string} run */
  async _findAny(run) {
    return (await this._find(run)) ?? (await this.page.session.reopened(run).catch(() => null));
  }

  /** What the server knows of a run, null where it knows none. @param {string} run */
  async _find(run) {
    const found = await this.page.tail({ run, from: 0 }).catch(() => null);
    if (found && (found.ev.length || found.status.mode !== "error")) return found;
    this.why = found?.status.text ?? JOURNEY.gone;
    return null;
  }

  /** Shows something for whoever has an entry of the history for it: it makes none of its own. @param {() => Promise<void>} show */
  async quietly(show) {
    await this.travelling;
    this.trail.still = true;
    try {
      await show();
    } finally {
      this.trail.still = false;
    }
  }

  _how(/** @type {boolean} */ final) {
    return final ? JOURNEY.done : this.page.session.started ? JOURNEY.goesOn : JOURNEY.begins;
  }

  /** Back to the run that goes on, or ended, aside. @param {string} run */
  _return(run) {
    openTab("explore");
    return this.page.attempt(async () => {
      const { session, feed } = this.page;
      this.wanted = run;
      await session.again(run);
      this.aside.hide();
      if (feed.run !== run && session.pending !== run) this.page.tell(JOURNEY.lost, "error");
    });
  }

  /** Back or Forward: the run of that entry, with the settings of its address. @param {string} run */
  _travel(run) {
    const { page, trail } = this;
    if (run === page.feed.run) return page.refresh(); // another tab, perhaps; the address says what holds
    const file = this.files.get(run) ?? null;
    const bundled = run.startsWith(RECORDED);
    return page.attempt(async () => {
      const { given } = page.wish.ask(trail.asked ?? {});
      trail.still = true;
      this.wanted = bundled ? null : run;
      try {
        const kept = file ?? (bundled ? null : await page.session.reopened(run));
        if (kept) page.apply(kept);
        else if (bundled) await page.session.recording(run.slice(RECORDED.length));
        else await page.session.again(run);
        if (page.feed.run !== run && trail.run === run) page.tell(JOURNEY.lost, "error");
      } finally {
        trail.still = false;
        page.wish.asked = {};
        if (given.recording) page.wish.settings.recording = given.recording;
        page.refresh();
      }
    });
  }
}

// ---- The button in the title bar that leads back to a run which goes on, or ended, while something else is shown.

class Aside {
  /** @param {(run: string) => void} onReturn */
  constructor(onReturn) {
    /** @type {string|null} */ this.run = null;
    this.el = h("button.hx-quiet.hx-aside", {
      "data-tip": ASIDE.tip,
      hidden: true,
      onclick: () => this.run && onReturn(this.run),
    });
  }

  /** @param {string} run @param {string} how it goes */
  show(run, how) {
    this.run = run;
    say(this.el, ASIDE.back(how));
    this.el.hidden = false;
  }

  hide() {
    this.run = null;
    this.el.hidden = true;
  }
}

// ---- What has been shown, in the browser's history: Back and Forward lead from run to run. An entry's state names its run
// and what that run was asked with; its address, the settings as they were left.

class Trail {
  /** @param {(run: string) => void} onTravel Back or Forward came to an entry at which this run was shown */
  constructor(onTravel) {
    this.still = false; // while an entry is returned to, what is shown makes no other one
    addEventListener("popstate", () => {
      if (this.run) onTravel(this.run);
    });
  }

  /** The run of the entry that the browser is at; "" where none was shown yet. */
  get run() {
    return String(history.state?.hx ?? "");
  }

  /** What the run of the entry was asked with, null where that is not known. @returns {Record<string, any>|null} */
  get asked() {
    return history.state?.asked ?? null;
  }

  /** @param {Record<string, any>} asked what the run of the entry was asked with */
  keeps(asked) {
    history.replaceState({ ...history.state, asked }, "");
  }

  /** A run is shown: a new entry, unless this one is its own or has had none. @param {string} run */
  shows(run) {
    if (run === this.run) return;
    const state = { ...history.state, hx: run, asked: null };
    if (this.still || !this.run) history.replaceState(state, "");
    else history.pushState(state, "");
  }
}
