/** What the next run is to be: the settings, out of the address and into it, and why they cannot be run. */

import { overOther } from "../levels/stack.js";
import { promptText } from "../run/copies.js";
import { fields, read, write } from "./address.js";
import { PROMPT } from "../../../text/en/run.js";

/** @import {Preset} from "../levels/stack.js" @import {TraceModel} from "../run/trace.js" */

const HOW_SHOWN = ["recording", "ghosts", "colour", "pause", "present"]; // of an address: what a run is not asked with

export class Wish {
  /** @param {Record<string, any>} setup the server's @param {() => any} tower the composer */
  constructor(setup, tower) {
    this.setup = setup;
    this._tower = tower;
    this._known = fields(setup.limits);
    /** @type {Preset[]} */ this.catalogue = setup.catalogue;
    const first = this.catalogue.find((p) => p.usable) ?? this.catalogue[0];
    this._defaults = {
      ...setup.defaults,
      preset: first?.name ?? "",
      device: "",
      ghosts: "show",
      colour: setup.colour ?? "level",
      pause: false,
      present: false,
      prompt: "",
      recording: "",
      simulated: "",
    };
    /** @type {Record<string, any>} */ this.settings = { ...this._defaults };
    /** @type {Record<string, any>} */ this.asked = {}; // what the address asked for, while its run is on its way
  }

  get tower() {
    return this._tower();
  }

  /** The settings' preset as the catalogue has it. */
  get preset() {
    return this.catalogue.find((p) => p.name === this.settings.preset);
  }

  /** Settings as the address has them: {given, refused}. They overrule what is shown next.
   *  @param {Record<string, any>} [others] that overrule the address */
  ask(others = {}) {
    const { given, refused } = read(location.search, this._known);
    Object.assign(given, this.over(given.stack), others);
    Object.assign(this.settings, this._defaults, given);
    this.presetStack();
    if (given.stack && !this.tower.setStack(given.stack)) refused.push(`stack=${given.stack.slice(0, 40)}`);
    this.settings.stack = this.tower.stack;
    this.asked = given;
    return { given, refused };
  }

  /** What a stack over another target that is offered means: {preset, stack}; else null. @param {string|undefined} stack */
  over(stack) {
    const names = this.catalogue.map((p) => p.name);
    return stack ? overOther(stack, names) : null;
  }

  /** Writes them into the address. */
  write() {
    if (this.setup.offline) return; // a file has the one address
    // The plan says which stack, and its words are not the visitor's.
    const made = this.tower.madeUp && this.settings.simulated;
    const settings = { ...this.settings, ...(made ? { stack: "", prompt: "" } : {}) };
    const usual = this.preset?.default_stack;
    const bare = write(location.search, settings, { ...this._defaults, stack: usual }, this._known);
    // An address that says anything says the stack: the default on the machine that opens it may be another one.
    const says = Object.keys(read(bare, this._known).given).some((name) => !HOW_SHOWN.includes(name));
    const query = says ? write(location.search, settings, this._defaults, this._known) : bare;
    history.replaceState(history.state, "", location.pathname + query + location.hash);
  }

  /** The preset's levels in the composer, and its own stack. */
  presetStack() {
    this.tower.setPreset(this.preset);
    this.tower.setStack(this.preset?.default_stack ?? "target");
    this.settings.stack = this.tower.stack;
  }

  /** What a recording brings with it. @param {TraceModel} model */
  adopt(model) {
    adopt(this, model);
  }

  /** What the server is asked for. */
  request() {
    const names = ["prompt", "stack", "preset", "device", ...Object.keys(this.setup.defaults)];
    return Object.fromEntries(names.map((name) => [name, this.settings[name]]));
  }

  /** Why it cannot be run, "" if it can. */
  whyNot() {
    const { preset, tower } = this;
    if (!preset) return PROMPT.noPreset;
    if (tower.madeUp) return PROMPT.simulated;
    if (!preset.usable) return `${preset.title}: ${preset.reason}`;
    if (!this.settings.prompt.trim()) return PROMPT.empty;
    return PROMPT.over(this.settings.prompt, this.setup.limits.prompt) || (tower.faults[0] ?? "");
  }
}

// ---- What a run that was recorded brings into the settings, unless the address asked for others.

/** @param {{settings: Record<string, any>, asked: Record<string, any>, setup: any, tower: any, preset: any}} wish
 *  @param {TraceModel} model */
export function adopt(wish, model) {
  const { settings, asked, setup, tower } = wish;
  /** @type {any} */ const header = model.header;
  if (!header.simulated && !asked.simulated) settings.simulated = "";
  if (!asked.preset && setup.catalogue.some((/** @type {{name: string}} */ p) => p.name === header.preset))
    settings.preset = header.preset;
  tower.setPreset(wish.preset);
  const own = settings.preset === header.preset || !asked.preset;
  if (!asked.stack) tower.setStack(own ? header.stack : (wish.preset?.default_stack ?? header.stack));
  settings.stack = tower.stack;
  const { text, raw } = promptText(model);
  if (header.simulated) {
    // It brings its stack and the words before its text; the settings stay the visitor's.
    if (!asked.prompt) settings.prompt = text;
    return;
  }
  if (!asked.prompt && text)
    Object.assign(settings, { prompt: text, raw: asked.raw ?? (raw && header.preset !== "toy") });
  settings.replan = asked.replan ?? Boolean(header.replan && !header.replan.by_load);
  const { sampling, seed, max_new_tokens } = header;
  for (const [name, value] of Object.entries({ ...sampling, seed, max_new_tokens })) {
    const limits = setup.limits[name];
    if (!Array.isArray(limits) || !Number.isFinite(value) || asked[name] !== undefined) continue;
    settings[name] = Math.min(limits[1], Math.max(limits[0], Number(value)));
  }
}
