/** The first screen: puts the parts together. `mount` is called once by the component that owns `root`. */

import { fields, read, write } from "./address.js";
import { create as createCard } from "./card.js";
import { promptRow, titleBar } from "./controls.js";
import { h, say, tips } from "./dom.js";
import { Feed } from "./feed.js";
import { learn } from "./kinds.js";
import { create as createLanes } from "./lanes.js";
import { Player } from "./player.js";
import { promptText } from "./prompt.js";
import { Session } from "./session.js";
import { describe, progressText, spoken } from "./status.js";
import { loadStyles } from "./styles.js";
import { Study } from "./study.js";
import { tallyLine } from "./tally-line.js";
import { textPanel } from "./text-panel.js";
import { rememberTheme, toggleTheme } from "./theme.js";
import { openTab, tabAsked } from "./tabs.js";
import { createTower } from "./tower.js";
import { create as createTransport } from "./transport.js";

/**
 * @param {HTMLElement} root
 * @typedef {{props: {value: string, setup: string}, watch: (name: string, f: () => void) => void}} Component
 * @param {import("./session.js").Ports & Component} ports from the component's js_on_load
 */
export async function mount(root, ports) {
  rememberTheme();
  await loadStyles();
  const stage = new Stage(root.querySelector(".hx-root") ?? root, ports);
  ports.watch("value", () => stage.receive(ports.props.value));
  await stage.begin(ports.props.value);
  tabAsked(stage.settings.simulated ? "planner" : ""); // the Planner knows the profiles that simulated runs are of
}

class Stage {
  constructor(root, ports) {
    this.root = root;
    this.ports = ports;
    this.setup = JSON.parse(ports.props.setup);
    learn(this.setup.grammar);
    this.known = fields(this.setup.limits);
    this.feed = new Feed();
    /** @type {any} */ this.shown = null; // status of the run that is shown
    this.view = { selected: null, round: null };
    const first = this.setup.catalogue.find((p) => p.usable) ?? this.setup.catalogue[0];
    this.defaults = {
      ...this.setup.defaults,
      preset: first?.name ?? "",
      device: "",
      ghosts: "show",
      colour: "level",
      prompt: "",
      recording: "",
      simulated: "",
    };
    /** @type {Record<string, any>} */ this.settings = { ...this.defaults };
    /** @type {Record<string, any>} */ this.asked = {}; // what the address asked for, while the first run is shown
    this._frame = 0;
    this.session = new Session(ports, {
      onPayload: (p) => this.apply(p),
      held: (run) => (run === this.feed.run ? this.feed.records.length : 0),
    });
    this.player = new Player(() => this._schedule());

    this.title = titleBar({
      onTheme: () => {
        toggleTheme();
        this.study.draw();
      },
    });
    this.prompt = promptRow({
      setup: this.setup,
      settings: this.settings,
      onEdit: (name, value) => this.edit(name, value),
      onGo: () => this.go(),
      onExample: (e) => {
        this.edit("prompt", e.prompt);
        this.prompt.show();
      },
      onRecording: (name) =>
        this._try(async () => {
          await this.session.recording(name);
          this.edit("recording", name);
        }),
    });
    this.text = textPanel({
      settings: this.settings,
      feed: this.feed,
      onEdit: (name, value) => this.edit(name, value),
      onSelect: (serial, info) => {
        this.card.select(serial, info);
        this.view.selected = serial;
        this._draw();
      },
      onOpen: (file) => this._try(() => this.session.open(file, this.setup.limits.file)),
      onTell: (text, kind) => this.tell(text, kind),
    });
    this.tower = createTower(h("div"), {
      presets: this.setup.catalogue.map((p) => p.name),
      replans: () => Boolean(this.settings.replan),
      settings: () => this.settings,
      onChange: (stack, replan = this.settings.replan) => {
        this.settings.replan = replan;
        this.edit("stack", stack);
      },
    });
    this.tally = tallyLine({
      onDepths: () => this.study.show("#figure-depths-panel"),
      onTell: (text) => this.tell(text),
    });
    this.spoken = h("p", { class: "hx-sr", role: "status", "aria-live": "polite" });
    this.note = h("p", { class: "hx-note", role: "alert", hidden: true });
    const clock = h("section", { class: "hx-clock", "aria-label": "lanes on one clock" });
    this.stageEl = h(
      "div",
      { class: "hx-stage" },
      this.title.el,
      this.prompt.el,
      h("div", { class: "hx-main" }, this.text.el, this.tower.el),
      clock,
      this.note,
      this.spoken,
    );
    this.root.replaceChildren(this.stageEl);
    this.lanes = createLanes(clock, {
      onSeek: (ns) => this.player.seek(ns),
      onRound: (round) => {
        this.view.round = round;
        this._draw();
      },
    });
    this.transport = createTransport(clock, { player: this.player });
    clock.append(this.tally.el);
    this.card = createCard(this.stageEl, {
      onSelect: (serial) => {
        this.view.selected = serial;
        this._draw();
      },
    });
    tips(this.stageEl);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && this.session.pending) this._stop();
    });
    document.addEventListener("hx:use-stack", (/** @type {any} */ event) => this.use(event.detail));
    document.addEventListener("hx:play-simulated", (/** @type {any} */ event) => this.simulate(event.detail));
    setInterval(() => {
      if (this.session.pending && this.session.started) this.say(spoken(this.feed.model, this.shown));
    }, 2000);
    this.study = new Study(this.ports, this.feed);
  }

  /** The first paint: what the address asks for, else the first recording. */
  async begin(value) {
    const { given, refused } = read(location.search, this.known);
    Object.assign(this.settings, given);
    this._preset();
    if (given.stack && !this.tower.setStack(given.stack)) refused.push(`stack=${given.stack.slice(0, 40)}`);
    this.asked = given;
    const wanted =
      given.recording && this.setup.recordings.some((r) => r.name === given.recording) ? given.recording : null;
    if (wanted) await this._try(() => this.session.recording(wanted));
    else if (value) this.apply(JSON.parse(value));
    if (!this.feed.model) this._empty();
    this.asked = {};
    if (!given.stack && !this.tower.stack) this.tower.setStack(this._catalogue()?.default_stack ?? "target");
    if (refused.length) this.tell(`Left out of the address, because not valid: ${refused.join(", ")}.`);
    this.settings.stack = this.tower.stack;
    this._refresh();
  }

  /** A value from the component. */
  receive(value) {
    if (value) this.apply(JSON.parse(value));
  }

  /** One payload, from the stream, a recording or a file. */
  apply(payload) {
    const mine = payload.run === this.session.pending;
    if (mine) this.session.hear(payload);
    const concerns = mine || !payload.run || payload.run === this.feed.run; // else a run that was left
    if (payload.status.mode === "error") concerns && this.tell(payload.status.text, "error");
    else if (mine && !payload.ev.length && !payload.from)
      payload.final ? this.tell(payload.status.text) : this.progress(payload.status);
    if (payload.ev.length || payload.from) this._events(payload, mine);
    this._busy();
  }

  _events(payload, mine) {
    const live = payload.status.mode === "live" || payload.status.mode === "error";
    if (live && !mine && payload.run !== this.feed.run) return; // a run that was left
    const what = this.feed.take(payload);
    if (what === "gap") return void this._try(() => this.session.catchUp(payload.run));
    this.shown = payload.status;
    if (what === "new") this._newRun(live);
    else if (live) this.player.grow();
    if (live && !payload.final) this.progress(payload.status.phase ? payload.status : null);
    if (payload.final) this._finished(live);
    this._status();
  }

  _newRun(live) {
    const { model } = this.feed;
    const header = model?.header;
    if (!header) return;
    this.view = { selected: null, round: null };
    this.card.hide();
    this.note.hidden = true;
    this.root.dataset.empty = "false";
    if (!live) this._adopt(model, header);
    this.tower.setRun(header);
    this.text.title(this.shown.title || (live ? "" : header.title));
    if (live) this.player.live(model);
    else this._replay();
    this.study.draw();
  }

  _replay() {
    this.player.attach(this.feed.model);
    if (this.player.reduced) this.player.seek(this.player.end);
    else this.player.play();
  }

  /** A recording brings its own stack and prompt, unless the address asked for others. */
  _adopt(model, header) {
    if (!header.simulated && !this.asked.simulated) this.settings.simulated = "";
    if (!this.asked.preset && this.setup.catalogue.some((p) => p.name === header.preset))
      this.settings.preset = header.preset;
    this._preset();
    const own = this.settings.preset === header.preset || !this.asked.preset;
    if (!this.asked.stack) this.tower.setStack(own ? header.stack : (this._catalogue()?.default_stack ?? header.stack));
    if (header.simulated) return this._adoptMadeUp(model);
    const { text, raw } = promptText(model);
    if (!this.asked.prompt && text)
      Object.assign(this.settings, { prompt: text, raw: this.asked.raw ?? (raw && header.preset !== "toy") });
    this._adoptSampling(header);
    this.settings.stack = this.tower.stack;
    this._refresh();
  }

  /** A simulated run brings its stack and the words before its text; the settings stay the visitor's. */
  _adoptMadeUp(model) {
    if (!this.asked.prompt) this.settings.prompt = promptText(model).text;
    this.settings.stack = this.tower.stack;
    this._refresh();
  }

  /** The figures that the recording was made with, so that Generate repeats it. */
  _adoptSampling({ sampling, seed, max_new_tokens, replan }) {
    this.settings.replan = this.asked.replan ?? Boolean(replan);
    for (const [name, value] of Object.entries({ ...sampling, seed, max_new_tokens })) {
      const limits = this.setup.limits[name];
      if (!Array.isArray(limits) || !Number.isFinite(value) || this.asked[name] !== undefined) continue;
      this.settings[name] = Math.min(limits[1], Math.max(limits[0], value));
    }
  }

  _finished(live) {
    this.progress(null);
    if (live) this.say(spoken(this.feed.model, this.shown));
    this.study.draw();
  }

  // ---- what the visitor does

  edit(name, value) {
    this.settings[name] = value;
    if (name === "preset") {
      this._preset();
      this.tower.setStack(this._catalogue()?.default_stack ?? "target");
      this.settings.stack = this.tower.stack;
    }
    this._refresh();
  }

  /** A stack that another tab sends: into the composer, not run yet. */
  use({ stack, preset }) {
    if (preset && preset !== this.settings.preset && this.setup.catalogue.some((p) => p.name === preset))
      this.edit("preset", preset);
    const fits = this.tower.setStack(stack);
    this.settings.stack = this.tower.stack;
    this._refresh();
    openTab("Play");
    this.tell(
      fits ? `${stack} is in the composer: press Generate.` : `${stack} is no stack that the composer can read.`,
      fits ? "" : "error",
    );
  }

  /** A plan that another tab sends: played without weights, and shown as what it is. */
  simulate(asked) {
    openTab("Play");
    this.settings.recording = "";
    this.tell("Simulating the plan; the first time takes some seconds.");
    return this._try(async () => {
      const { question, plan, link = "" } = asked;
      await this.session.simulate({ question, plan, seed: Number(this.settings.seed) || 0 });
      if (this.feed.model?.header?.simulated) this.edit("simulated", link);
    });
  }

  go() {
    if (this.session.pending) return this._stop();
    const reason = this._whyNot();
    if (reason) return this.tell(reason, "error");
    this.note.hidden = true;
    Object.assign(this.settings, { recording: "", simulated: "" });
    this._refresh();
    const names = ["prompt", "stack", "preset", "device", ...Object.keys(this.setup.defaults)];
    const request = Object.fromEntries(names.map((name) => [name, this.settings[name]]));
    return this._try(async () => {
      this.session.start(request);
      this._busy();
    });
  }

  _stop() {
    return this._try(async () => {
      const stopped = this.session.stop();
      this._busy();
      if (await stopped) this.tell("Stopped before it began.");
    });
  }

  _whyNot() {
    const preset = this._catalogue();
    if (!preset) return "No preset is known, so nothing can be run.";
    if (this.tower.madeUp)
      return "This stack is simulated: there are no weights for it here. Choose another stack to generate with.";
    if (!preset.usable) return `${preset.title}: ${preset.reason}`;
    if (!this.settings.prompt.trim()) return "The prompt is empty: write something or choose an example.";
    return this.tower.faults[0] ?? "";
  }

  async _try(action) {
    try {
      await action();
    } catch (/** @type {any} */ error) {
      this.tell(error?.message || String(error) || "the server did not answer", "error");
      this._busy();
    }
  }

  // ---- showing

  _refresh() {
    this.prompt.show();
    this.text.show();
    this.tower.nameStack();
    this._busy();
    // The plan says which stack, and its words are not the visitor's.
    const made = this.tower.madeUp && this.settings.simulated;
    const query = write(
      location.search,
      { ...this.settings, ...(made ? { stack: "", prompt: "" } : {}) },
      { ...this.defaults, stack: this._catalogue()?.default_stack },
      this.known,
    );
    history.replaceState(history.state, "", location.pathname + query + location.hash);
    this._draw();
  }

  _busy() {
    this.prompt.busy(this.session.state, this._whyNot(), this._catalogue()?.reason);
    this._status();
  }

  _status() {
    this.title.set(describe(this.feed.model, this.shown, this.session));
  }

  /** Redraws at the next frame; many changes of the cursor make one drawing. */
  _schedule() {
    if (this._frame) return;
    this._frame = requestAnimationFrame(() => {
      this._frame = 0;
      this._draw();
    });
  }

  _draw() {
    const { model } = this.feed;
    if (!model?.header) return;
    const cursor = this.player.cursor;
    const opts = {
      colourBy: this.settings.colour,
      ghosts: this.settings.ghosts,
      live: this.player.following,
      ...this.view,
    };
    for (const part of [this.text, this.tower, this.lanes, this.transport, this.card]) part.update(model, cursor, opts);
    this.tally.update(model, cursor, this.shown?.phase === "plain");
  }

  _empty() {
    this.root.dataset.empty = "true";
    this.text.empty();
    this.settings.prompt ||= this.setup.examples[0]?.prompt ?? "";
    this._status();
  }

  /** A message that stays until the next run; `kind` "error" or nothing. */
  tell(text, kind = "") {
    this.progress(null);
    say(this.note, text);
    this.note.dataset.kind = kind;
    this.note.hidden = !text;
  }

  progress(status) {
    this.text.progress(status ? progressText(status) : null);
  }

  say(text) {
    say(this.spoken, text);
  }

  _catalogue() {
    return this.setup.catalogue.find((p) => p.name === this.settings.preset);
  }

  _preset() {
    this.tower.setPreset(this._catalogue());
  }
}
