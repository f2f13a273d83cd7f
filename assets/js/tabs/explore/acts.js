/** What a visitor does on the first screen: asks for a run and stops it, shows a recording, opens a file, takes over what
 *  another tab sends. */

import { h } from "../../shared/kit/dom.js";
import { openTab } from "../../shared/kit/tabs.js";
import { stackName } from "../../shared/levels/stack-names.js";
import { RECORDED } from "../../shared/visit/journey.js";
import { STAGE } from "../../../text/en/run.js";
import { words } from "../../../text/en/share.js";

/** @import {Feed} from "../../shared/run/trace.js" @import {Journey} from "../../shared/visit/journey.js"
 *  @import {Session} from "../../shared/visit/session.js" @import {Wish} from "../../shared/visit/wish.js" */

export class Acts {
  /** @param {{session: Session, journey: Journey,
   *    feed: Feed, wish: Wish, limits: Record<string, any>,
   *    edit: (name: string, value: any) => void, compose: (stack: string) => boolean, settled: () => Promise<void>, clear: () => void,
   *    tell: (text: string, kind?: string) => void, busy: () => void,
   *    attempt: (action: () => Promise<void>) => Promise<void>}} page compose: puts a stack into the composer, and says whether
   *    it could be read; settled: when the server has said whether what is composed stands; clear: takes messages away; attempt: says what an action throws */
  constructor(page) {
    this.page = page;
    /** @type {{run: string, prompt: string}|null} */ this.ran = null; // what the last run was asked with
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || !this.page.session.pending) return;
      event.preventDefault();
      this._stop();
    });
    document.addEventListener("hx:use-stack", (/** @type {any} */ event) => this._use(event.detail));
    document.addEventListener("hx:open-file", (/** @type {any} */ event) => this.open(event.detail.file));
    document.addEventListener("hx:play-simulated", (/** @type {any} */ event) => this._simulate(event.detail));
  }

  /** Asks for a run, or stops the one that is not over. */
  go() {
    const { session, wish, journey, tell, busy } = this.page;
    if (session.pending) return this._stop();
    const reason = wish.whyNot();
    if (reason) return tell(reason, "error");
    this.page.clear();
    journey.aside.hide();
    return this.page.attempt(async () => {
      const request = wish.request();
      const run = session.start(request);
      journey.wanted = run;
      journey.asked = { run, request };
      this.ran = { run, prompt: wish.settings.prompt };
      busy();
    });
  }

  _stop() {
    const { session, tell, busy } = this.page;
    return this.page.attempt(async () => {
      const { fetching } = session;
      const stopped = session.stop();
      busy();
      if (await stopped) tell(fetching ? STAGE.stoppedFetching : STAGE.stoppedEarly);
    });
  }

  /** A recording, by its name. @param {string} name */
  record(name) {
    const { session, feed, edit } = this.page;
    return this.page.attempt(async () => {
      await session.recording(name);
      if (feed.run === RECORDED + name) edit("recording", name);
    });
  }

  /** A trace's file: chosen here, dropped onto the page, or sent by another tab. @param {File} file */
  open(file) {
    openTab("explore");
    return this.page.attempt(() => this.page.session.open(file, this.page.limits.file));
  }

  /** What can be done to run what the composer holds. */
  invite() {
    if (this.page.session.pending) return STAGE.busy;
    const reason = this.page.wish.whyNot();
    return reason ? STAGE.cannot(reason) : STAGE.press;
  }

  /** A stack that another tab sends: into the composer, not run yet. @param {{stack: string, preset?: string}} sent */
  async _use(sent) {
    const { wish, edit, compose, settled, tell } = this.page;
    const { stack, preset } = { ...sent, ...wish.over(sent.stack) };
    if (preset && preset !== wish.settings.preset && wish.catalogue.some((p) => p.name === preset))
      edit("preset", preset);
    const fits = compose(stack);
    openTab("explore");
    if (!fits) return tell(STAGE.unread(stack), "error");
    await settled();
    tell(STAGE.composed(stackName(stack), this.invite()));
  }

  /** A plan that another tab sends: played without weights, and shown as what it is. @param {any} sent */
  _simulate({ question, plan, link = "" }) {
    const { session, feed, wish, edit, tell } = this.page;
    openTab("explore");
    wish.settings.recording = "";
    tell(STAGE.simulating);
    return this.page.attempt(async () => {
      await session.simulate({ question, plan, seed: Number(wish.settings.seed) || 0 });
      if (feed.model?.header?.simulated) edit("simulated", link);
    });
  }
}

// ---- A trace file that is dropped anywhere onto the page is opened, as by the button; while one is held over it, the page
// shows where it goes.

/** @param {{onFile: (file: File) => void, onTell: (text: string, kind?: string) => void}} ctx
 *  @returns {HTMLElement} what is shown while a file is held over the page */
export function dropTarget({ onFile, onTell }) {
  const el = h("div.hx-drop", { hidden: true }, h("p", [h("b", words.drop), h("span", words.dropNote)]));
  const holds = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
  const over = (/** @type {DragEvent} */ event) => {
    if (!holds(event) || event.defaultPrevented) return; // somebody else's: the Planner takes profiles
    event.preventDefault();
    el.hidden = false;
  };
  document.addEventListener("dragenter", over);
  document.addEventListener("dragover", over);
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) el.hidden = true; // it left the window
  });
  document.addEventListener("drop", (event) => {
    const shown = !el.hidden;
    el.hidden = true;
    if (!shown || !holds(event) || event.defaultPrevented) return;
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    if (!files.length) return onTell(words.dropNone, "error");
    if (files.length > 1) onTell(words.dropMany);
    onFile(files[0]);
  });
  return el;
}
