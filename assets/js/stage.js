/** The first screen: what a visitor asks for, what the server answers, and the run that is shown for it. */

import { tips } from "./dom.js";
import { Drawing } from "./drawing.js";
import { dropTarget } from "./drop.js";
import { Feed } from "./feed.js";
import { Journey } from "./journey.js";
import { learn } from "./kinds.js";
import { Player } from "./player.js";
import { onPresenting, present, presenterKeys } from "./presenter.js";
import { promptText } from "./prompt.js";
import { Session } from "./session.js";
import { Place } from "./share/place.js";
import { furnish } from "./stage-parts.js";
import { describe, progressText } from "./status.js";
import { Study } from "./study.js";
import { openTab } from "./tabs.js";
import { Wish } from "./wish.js";
import { STAGE } from "./words/run.js";

export class Stage {
  constructor(root, ports) {
    this.root = root;
    this.ports = ports;
    this.setup = JSON.parse(ports.props.setup);
    learn(this.setup.grammar);
    this.feed = new Feed();
    /** @type {any} */ this.shown = null; // status of the run that is shown
    this.view = { selected: null, round: null };
    /** @type {{run: string, prompt: string}|null} */ this.ran = null; // what the last run was asked with
    this.wish = new Wish(this.setup, () => this.tower);
    this.settings = this.wish.settings;
    this.drawing = new Drawing(this);
    this.session = new Session(ports, {
      onPayload: (p) => this.apply(p),
      held: (run) => (run === this.feed.run ? this.feed.records.length : run === this.journey.wanted ? 0 : Infinity),
    });
    this.player = new Player(() => this.drawing.ask());
    this.journey = new Journey(this);
    this.place = new Place(this);
    const parts = furnish(this);
    this.stageEl = parts.el;
    this.title = parts.title;
    this.prompt = parts.prompt;
    this.text = parts.text;
    this.tower = parts.tower;
    this.tally = parts.tally;
    this.caption = parts.caption;
    this.note = parts.note;
    this.other = parts.other;
    this.lanes = parts.lanes;
    this.transport = parts.transport;
    this.card = parts.card;
    this.desk = parts.desk;
    tips(this.stageEl);
    if (!this.setup.offline)
      this.stageEl.append(dropTarget({ onFile: (file) => this.open(file), onTell: (...said) => this.tell(...said) }));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || !this.session.pending) return;
      event.preventDefault();
      this._stop();
    });
    document.addEventListener("hx:use-stack", (/** @type {any} */ event) => this.use(event.detail));
    document.addEventListener("hx:open-file", (/** @type {any} */ event) => {
      openTab("Play");
      this.open(event.detail.file);
    });
    document.addEventListener("hx:play-simulated", (/** @type {any} */ event) => this.simulate(event.detail));
    presenterKeys({ player: this.player, inSight: () => this.stageEl.checkVisibility() });
    onPresenting((on) => this.settings.present !== on && this.edit("present", on));
    this.study = new Study(this.ports, this.feed, !this.setup.offline);
  }

  /** The first paint: what the page showed before it was loaded anew, what the address asks for, or the first recording. */
  async begin(value) {
    const { given, refused } = this.wish.ask();
    const named = given.recording && this.setup.recordings.find((r) => r.name === given.recording);
    const wanted = named || (given.recording && this.place.nearest(given.recording, this.setup.recordings));
    const said = refused.length ? [STAGE.leftOut(refused.join(", "))] : [];
    if (given.recording && !named) {
      this.settings.recording = wanted?.name ?? "";
      said.unshift(this.place.another(given.recording, wanted?.title));
    }
    this.journey.trail.still = true;
    said.push(...(await this.journey.comeBack()));
    if (!this.feed.model) await this.attempt(() => this.place.unpack());
    if (!this.feed.model && wanted) await this.attempt(() => this.session.recording(wanted.name));
    if (!this.feed.model && value) this.apply(JSON.parse(value));
    this.journey.trail.still = false;
    if (!this.feed.model) this._empty();
    this.wish.asked = {};
    this.settings.stack = this.tower.stack;
    this.refresh();
    said.push(...this.place.arrive(Boolean(wanted && !named)));
    if (said.length) this.tell(said.join(" "), "error");
    this.desk.begin();
  }

  /** A value from the component. */
  receive(value) {
    if (value) this.apply(JSON.parse(value));
  }

  /** One payload, from the stream, a recording or a file. */
  apply(payload) {
    const mine = payload.run === this.session.pending;
    if (mine) this.session.hear(payload);
    if (mine && this.journey.wanted !== payload.run) return this.journey.hear(payload);
    const concerns = mine || !payload.run || payload.run === this.feed.run; // else a run that was left
    if (payload.status.mode === "error") concerns && this.tell(payload.status.text, "error");
    else if (mine && !payload.ev.length && !payload.from)
      payload.final ? this.tell(payload.status.text) : this.progress(payload.status);
    if (payload.ev.length || payload.from) this._events(payload, mine);
    this.busy();
  }

  _events(payload, mine) {
    const live = payload.status.mode === "live" || payload.status.mode === "error";
    if (live && payload.run !== this.journey.wanted && payload.run !== this.feed.run) return; // a run that was left
    const what = this.feed.take(payload);
    if (what === "gap") return void this.attempt(() => this.session.catchUp(payload.run));
    this.shown = payload.status;
    if (what === "new") this._newRun(live, payload);
    else if (live) this.player.grow();
    if (live && !payload.final) this.progress(payload.status.phase ? payload.status : null);
    if (payload.final) this._finished();
    this._status();
  }

  _newRun(live, payload) {
    const { model, run } = this.feed;
    const header = model?.header;
    if (!header) return;
    this.view = { selected: null, round: null };
    this.card.hide();
    this.note.clear();
    this.root.dataset.empty = "false";
    this.journey.shows(run, live, payload);
    if (!live) this.wish.adopt(model);
    else if (!this.settings.prompt) this.settings.prompt = promptText(model).text; // too long for an address
    this.tower.setRun(header);
    this.text.title(this.shown.title || (live ? "" : header.title));
    if (live) this.player.live(model);
    else this._replay();
    this.refresh();
    this.study.draw();
  }

  _replay() {
    this.player.attach(this.feed.model);
    if (this.player.reduced) this.player.seek(this.player.end);
    else this.player.play();
  }

  _finished() {
    this.progress(null);
    this.study.draw();
  }

  // ---- what the visitor does

  edit(name, value) {
    this.settings[name] = value;
    if (name === "preset") this.wish.presetStack();
    this.refresh();
  }

  /** A stack that another tab sends: into the composer, not run yet. */
  use({ stack, preset }) {
    if (preset && preset !== this.settings.preset && this.setup.catalogue.some((p) => p.name === preset))
      this.edit("preset", preset);
    const fits = this.tower.setStack(stack);
    this.settings.stack = this.tower.stack;
    this.refresh();
    openTab("Play");
    if (!fits) return this.tell(STAGE.unread(stack), "error");
    this.tell(STAGE.composed(stack, this._invite()));
  }

  /** What can be done to run what the composer holds. */
  _invite() {
    if (this.session.pending) return STAGE.busy;
    const reason = this.wish.whyNot();
    return reason ? STAGE.cannot(reason) : STAGE.press;
  }

  /** A plan that another tab sends: played without weights, and shown as what it is. */
  simulate(asked) {
    openTab("Play");
    this.settings.recording = "";
    this.tell(STAGE.simulating);
    return this.attempt(async () => {
      const { question, plan, link = "" } = asked;
      await this.session.simulate({ question, plan, seed: Number(this.settings.seed) || 0 });
      if (this.feed.model?.header?.simulated) this.edit("simulated", link);
    });
  }

  /** A trace's file: chosen here, dropped onto the page, or sent by another tab. @param {File} file */
  open(file) {
    openTab("Play");
    return this.attempt(() => this.session.open(file, this.setup.limits.file));
  }

  go() {
    if (this.session.pending) return this._stop();
    const reason = this.wish.whyNot();
    if (reason) return this.tell(reason, "error");
    this.note.clear();
    this.journey.aside.hide();
    return this.attempt(async () => {
      const run = this.session.start(this.wish.request());
      this.journey.wanted = run;
      this.ran = { run, prompt: this.settings.prompt };
      this.busy();
    });
  }

  _stop() {
    return this.attempt(async () => {
      const stopped = this.session.stop();
      this.busy();
      if (await stopped) this.tell(STAGE.stoppedEarly);
    });
  }

  async attempt(action) {
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
    this.player.reading = this.settings.pause ? (t) => this.caption.rest(t) : null;
    this.prompt.show();
    this.text.show();
    this.busy();
    this.wish.write();
    this.drawing.now();
  }

  busy() {
    this.prompt.busy(this.session.state, this.wish.whyNot(), this.wish.preset?.reason);
    this.tower.nameStack();
    this.other.show(this.settings.prompt, this._shownPrompt(), this._invite());
    this._status();
  }

  /** The prompt of the run that is shown; null where it cannot be told from its ids. */
  _shownPrompt() {
    const { model, run } = this.feed;
    if (!model?.header || run === null) return null;
    if (this.ran?.run === run) return this.ran.prompt;
    return model.rounds.length ? promptText(model).text || null : null;
  }

  _status() {
    this.title.set(describe(this.feed.model, this.shown, this.session, !this.wish.whyNot()));
  }

  /** Whether the run that is shown is being written, and what the server says of it. */
  live() {
    return { run: this.session.started && this.session.pending === this.feed.run, status: this.shown };
  }

  _empty() {
    this.root.dataset.empty = "true";
    this.text.empty();
    this.settings.prompt ||= this.setup.examples[0]?.prompt ?? "";
    this._status();
  }

  /** A message; `kind` "error" or nothing. */
  tell(text, kind = "") {
    this.progress(null);
    this.note.tell(text, kind);
  }

  progress(status) {
    this.text.progress(status ? progressText(status) : null);
  }
}
