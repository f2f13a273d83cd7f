/** The first screen: what a visitor asks for, what the server answers, and the run that is shown for it. */

import { translated } from "../../../text/heard.js";
import { covered, onCover } from "../../shared/kit/curtain.js";
import { tips } from "../../shared/kit/dom.js";
import { Acts, dropTarget } from "./acts.js";
import { settle, wantedBy } from "./arrival.js";
import { Drawing } from "./drawing.js";
import { Feed } from "../../shared/run/trace.js";
import { keepCatalogue, keepPace } from "../../shared/visit/offered.js";
import { Journey, RECORDED } from "../../shared/visit/journey.js";
import { keepPlace, keepPrompt, promptBefore } from "../../shared/visit/pending.js";
import { learn } from "../../shared/levels/kinds.js";
import { Player } from "../../shared/player/player.js";
import { onPresenting, present, presenterKeys } from "../../shared/player/presenter.js";
import { promptText } from "../../shared/run/copies.js";
import { Session, understand } from "../../shared/visit/session.js";
import { Place } from "../../shared/share/place.js";
import { furnish } from "./stage-parts.js";
import { describe, progressText } from "./title/title.js";
import { Study } from "./charts/study.js";
import { Wish } from "../../shared/visit/wish.js";
import { PROMPT, STAGE } from "../../../text/en/run.js";

/** @import {Reach} from "../../shared/player/within-reach.js" @import {Pace} from "../../shared/visit/offered.js"
 *  @import {Payload, Ports} from "../../shared/visit/session.js" @import {View} from "./drawing.js" */

/** @type {Pace} */
const NOBODY = { ahead: 0, answers: null };

export class Stage {
  /** @param {HTMLElement} root @param {Ports & {props: {setup: string}}} ports */
  constructor(root, ports) {
    this.root = root;
    this.setup = translated(JSON.parse(ports.props.setup));
    learn(this.setup.grammar);
    this.feed = new Feed();
    /** @type {any} */ this.shown = null; // status of the run that is shown
    /** @type {View} */ this.view = { selected: null, round: null };
    this.wish = new Wish(this.setup, () => this.parts.tower);
    this.settings = this.wish.settings;
    this.session = new Session(ports, {
      onPayload: (p) => this.apply(p),
      held: (run) => (run === this.feed.run ? this.feed.records.length : run === this.journey.wanted ? 0 : Infinity),
      unreached: () => this.tell(STAGE.unreached, "error"),
    });
    this.player = new Player(() => this.drawing.ask());
    const { root: host, setup, feed, view, wish, settings, session, player } = this;
    const tell = (/** @type {string} */ /** @type {string} */ text, kind = "") => this.tell(text, kind);
    const attempt = (/** @type {() => Promise<void>} */ /** @type {() => unknown} */ action) => this.attempt(action);
    /** @param {string} name @param {any} value */
    const edit = (/** @type {string} */ name, /** @type {any} */ value) => this.edit(name, value);
    const draw = () => this.drawing.now();
    this.study = new Study(ports, feed, !setup.offline);
    this.journey = new Journey({
      ...{ session, feed, wish, tell, attempt },
      tail: (asked) => ports.call.tail(asked),
      apply: (payload) => this.apply(payload),
      busy: () => this.busy(),
      refresh: () => this.refresh(),
    });
    this.place = new Place({
      ...{ feed, player, session, tell, attempt },
      press: (serial) => this.parts.text.press(serial),
      isSame: () => this.parts.tower.isSame,
    });
    this.offered = keepCatalogue({ setup, call: ports.call, onNews: () => this._offered() });
    document.addEventListener("hx:measured", () => this.offered.again()); // the Planner tab measured this machine
    this.pace = NOBODY;
    this.acts = new Acts({
      ...{ session, feed, wish, tell, attempt, edit },
      journey: this.journey,
      limits: setup.limits,
      compose: (stack) => this.show({ stack }),
      settled: () => this.parts.tower.settled(),
      clear: () => this.parts.note.clear(),
      busy: () => this.busy(),
    });
    this.parts = furnish({
      ...{ root: host, setup, feed, view, settings, player, tell, edit, draw },
      aside: this.journey.aside.el,
      live: () => ({ run: session.started && session.pending === feed.run, status: this.shown }),
      ready: () => !session.pending && !wish.whyNot(),
      busy: () => this.busy(),
      acts: this.acts,
      longText: (name, use) =>
        this.attempt(async () => {
          const found = await ports.call.long_text({ name });
          if (!found?.prompt) throw new Error(PROMPT.noLongText);
          use(found.prompt);
        }),
      figures: this.study,
    });
    this.drawing = new Drawing({
      ...{ root: host, feed, player, settings, view },
      parts: this.parts,
      plain: () => this.shown?.phase === "plain",
      place: this.place,
    });
    const { el } = this.parts;
    tips(el);
    if (!setup.offline) el.append(dropTarget({ onFile: (file) => this.acts.open(file), onTell: tell }));
    presenterKeys({ player, inSight: () => el.checkVisibility() });
    this.held = false; // a replay begins when the story no longer covers it
    onCover((on) => {
      if (on) return player.pause();
      wish.write(); // the address was the story's
      this._begins();
    });
    onPresenting((on) => settings.present !== on && this.edit("present", on));
  }

  /** What other tabs may do with it. @returns {Reach} */
  get reach() {
    const { feed, player, settings, parts } = this;
    return {
      ...{ el: parts.el, feed, player, settings },
      stack: () => parts.tower.stack,
      show: (some) => void this.show(some),
      record: (name) =>
        this.journey.quietly(async () => {
          // What was set in the composer before is not of this recording.
          if (feed.model && feed.run === RECORDED + name) this.wish.adopt(feed.model);
          else await this.acts.record(name);
        }),
      press: (serial) => parts.text.press(serial),
      lend: (panels) => parts.panels.lend(panels),
      isSame: () => parts.tower.isSame,
      recordings: this.setup.recordings,
    };
  }

  /** The first paint: what the page showed before it was reloaded, what the address asks for, or the first recording. */
  async begin(/** @type {string} */ value) {
    const asked = wantedBy(this);
    const { given, wanted } = asked;
    const long = given.prompt ? "" : promptBefore();
    if (long) this.settings.prompt = given.prompt = long;
    this.journey.trail.still = true;
    asked.said.push(...(await this.journey.comeBack()));
    await this.attempt(() => this.place.unpack(Boolean(this.feed.model)));
    if (!this.feed.model && wanted) await this.attempt(() => this.session.recording(wanted.name));
    if (!this.feed.model && value) this.apply(JSON.parse(value));
    this.journey.trail.still = false;
    if (!this.feed.model) this._empty();
    await settle(this, asked);
    this.offered.begin();
    if (this.setup.offline || this.setup.static) return;
    keepPlace();
    keepPrompt(() => this.settings.prompt);
    keepPace({
      call: this.session.call,
      idle: () => !this.session.pending,
      onNews: (pace) => {
        this.pace = pace;
        this.busy();
      },
    });
  }

  /** The server has other presets, or other levels of them. */
  _offered() {
    this.parts.tower.setPreset(this.wish.preset);
    this.refresh();
  }

  /** A value from the component. @param {string} value */
  receive(value) {
    if (value) this.apply(JSON.parse(value));
  }

  /** One payload, from the stream, a recording or a file. */
  apply(/** @type {Payload} */ payload) {
    understand(payload);
    const mine = payload.run === this.session.pending;
    if (mine) this.session.hear(payload);
    if (mine && this.journey.wanted !== payload.run) return this.journey.hear(payload);
    const concerns = mine || !payload.run || payload.run === this.feed.run; // else a run that was left
    if (payload.status.mode === "error") concerns && this.tell(payload.status.text, "error");
    else if (mine && !payload.ev.length && !payload.from)
      payload.final ? this.tell(payload.status.text) : this.progress(payload.status);
    if (payload.ev.length || payload.from) this._events(payload);
    this.busy();
  }

  _events(/** @type {Payload} */ payload) {
    const live = payload.status.mode === "live" || payload.status.mode === "error";
    if (live && payload.run !== this.journey.wanted && payload.run !== this.feed.run) return; // a run that was left
    const what = this.feed.take(payload);
    if (what === "gap") return void this.attempt(() => this.session.catchUp(payload.run));
    this.shown = payload.status;
    if (what === "new") this._newRun(live, payload);
    else if (live) this.player.grow();
    if (what !== "new") this.study.draw();
    if (live && !payload.final) this.progress(payload.status.phase ? payload.status : null);
    if (payload.final) this._finished();
    this._status();
  }

  _newRun(/** @type {boolean} */ live, /** @type {Payload} */ payload) {
    const { model, run } = this.feed;
    const header = model?.header;
    if (!header || run === null) return;
    Object.assign(this.view, { selected: null, round: null });
    this.parts.card.hide();
    this.parts.note.clear();
    this.root.dataset.empty = "false";
    this.journey.shows(run, live, payload);
    if (!live) this.wish.adopt(model);
    else if (!this.settings.prompt) this.settings.prompt = promptText(model).text; // too long for an address
    if (!header.simulated) this.journey.settles(run); // a plan's words are not the visitor's
    this.parts.tower.setRun(header);
    this._title();
    if (live) this.player.live(model);
    else this._replay();
    if (live) this.offered.ran(this.wish.preset);
    this.refresh();
    this.study.draw();
  }

  _replay() {
    this.player.attach(this.feed.model);
    this.held = true;
    if (!covered()) this._begins();
  }

  _begins() {
    if (!this.held) return;
    this.held = false;
    if (this.player.reduced) this.player.seek(this.player.end);
    else this.player.play();
  }

  _finished() {
    this.progress(null);
    if (this.shown.early) this.tell(this.shown.early);
    this.study.draw();
  }

  // ---- what the visitor does

  edit(/** @type {string} */ name, /** @type {any} */ value) {
    this.settings[name] = value;
    if (name === "preset") this.wish.presetStack();
    this.refresh();
  }

  /** With other settings; a stack goes into the composer. Whether it could be read. @param {Record<string, any>} some */
  show({ stack, ...others }) {
    Object.assign(this.settings, others);
    const fits = stack === undefined || this.parts.tower.setStack(stack);
    this.settings.stack = this.parts.tower.stack;
    this.refresh();
    return fits;
  }

  async attempt(/** @type {() => unknown} */ action) {
    try {
      await action();
    } catch (/** @type {any} */ error) {
      this.tell(error?.message || String(error) || STAGE.unanswered, "error");
      this.busy();
    }
  }

  // ---- showing

  refresh() {
    present(Boolean(this.settings.present));
    this.player.reading = this.settings.pause ? (t) => this.parts.caption.rest(t) : null;
    this.parts.prompt.show();
    this.parts.text.show();
    this.busy();
    if (!covered()) this.wish.write(); // else the address is the story's
    this.drawing.now();
  }

  busy() {
    if (this.session.pending) this.pace = NOBODY;
    this._beginning();
    this.parts.prompt.busy(this.session.state, this.wish.whyNot(), this.wish.preset?.reason, this.pace);
    this.parts.tower.nameStack();
    this.parts.other.show(this.settings.prompt, this._shownPrompt(), this.acts.invite());
    this._status();
  }

  /** A run that was asked for takes the place of what is shown, which leaves at once; it is back if the run does not begin. */
  _beginning() {
    const { session, journey, root } = this;
    const begins = session.pending !== null && !session.started && journey.wanted === session.pending;
    if (begins === root.hasAttribute("data-begins")) return;
    root.toggleAttribute("data-begins", begins);
    if (begins) this.player.pause();
    this._title(begins);
  }

  /** @param {boolean} [begins] what is shown has left */
  _title(begins = false) {
    const live = this.shown?.mode === "live";
    this.parts.text.title(begins ? "" : this.shown?.title || (live ? "" : this.feed.model?.header?.title));
  }

  /** The prompt of the run that is shown; null where it cannot be told from its ids. */
  _shownPrompt() {
    const { model, run } = this.feed;
    if (!model?.header || run === null) return null;
    if (this.acts.ran?.run === run) return this.acts.ran.prompt;
    return model.rounds.length ? promptText(model).text || null : null;
  }

  _status() {
    const model = this.root.hasAttribute("data-begins") ? null : this.feed.model;
    this.parts.title.set(describe(model, this.shown, this.session, !this.wish.whyNot()));
  }

  _empty() {
    this.root.dataset.empty = "true";
    this.parts.text.empty();
    this.settings.prompt ||= this.setup.examples[0]?.prompt ?? "";
    this._status();
  }

  /** A message; `kind` "error" or nothing. */
  tell(/** @type {string} */ text, kind = "") {
    this.progress(null);
    this.parts.note.tell(text, kind);
  }

  progress(/** @type {any} */ status) {
    this.parts.text.progress(status ? progressText(status) : null);
  }
}
