/** The stack that is composed in the tower: its levels, what the preset and the run that is shown know of each, and
 *  what speaks against it. */

import { numbered } from "../../../shared/levels/kinds.js";
import { levelName } from "../../../shared/levels/stack-names.js";
import { blockOf, format, missing, parse, same } from "../../../shared/levels/stack.js";
import { shareText, trunksOf, trunksPlanned } from "../../../shared/levels/trunk.js";
import { noteOf, runLevel } from "./floor/floor-notes.js";
import { heard } from "../../../../text/heard.js";
import { TOWER } from "../../../../text/en/tower.js";

/** @import {Level, Preset} from "../../../shared/levels/stack.js"
 *  @import {Trunk} from "../../../shared/levels/trunk.js" @import {Header} from "../../../shared/run/events.js"
 *  @import {Info} from "./floor/depth.js" */

/** @typedef {Level & {on: boolean}} OnLevel */

/** A level as the grammar writes it. @param {Level} level @param {number|null} block @param {boolean} last */
const writtenAs = (level, block, last) => (last ? format([level]) : format([{ ...level, block }, level]).split(",")[0]);

const UNDONE = 50; // changes that can be taken back

export class Composition {
  /** @param {string[]} presets names in the catalogue @param {Faults} faults what the server says */
  constructor(presets, faults) {
    this.presets = presets;
    this.faults = faults;
    /** @type {OnLevel[]} */ this.levels = []; // cheapest first: {name, block, options, on}
    /** @type {Preset|null} */ this.preset = null;
    /** @type {Header|null} */ this.run = null; // header of the run that is shown
    /** @type {string[]} */ this.past = []; // the levels before each change, as JSON
    this.now = "[]";
    this.borrowed = false; // whether the levels are those of a simulated run that nobody has weights for
    /** @type {Trunk[]} */ this.shared = []; // trunks of the stack
  }

  /** The levels that are switched on. */
  get on() {
    return this.levels.filter((level) => level.on);
  }

  get stack() {
    return format(this.on);
  }

  /** Whether this is the stack that ran. */
  get same() {
    const { run } = this;
    const ran = run && parse(run.stack);
    const elsewhere = ran && this.presets.includes(run.preset ?? "") && run.preset !== this.preset?.name;
    return ran && !elsewhere
      ? same(
          ran,
          this.on,
          run.levels.map((level) => level.block),
        )
      : false;
  }

  /** What speaks against this stack, by the level that it is said of. */
  get bad() {
    const { on } = this;
    const said = this.faults.of(this.stack, on);
    /** @type {Map<object, string>} */ const bad = new Map();
    const made = this.madeUp; // its levels are of no preset
    on.forEach((level, i) => {
      const reason = (made ? "" : missing(level, this.find(level), i < on.length - 1)) || said.get(level);
      if (reason) bad.set(level, reason);
    });
    return bad;
  }

  /** Whether every level is one of a simulated run that nobody has weights for; order and T may differ. */
  get madeUp() {
    const made = this.levels.map((level) => this._made(level));
    return this.borrowed && made.length > 0 && made.every(Boolean);
  }

  /** Another stack; whether the text is one. @param {string} text */
  set(text) {
    const levels = parse(text);
    if (!levels) return false;
    this.borrowed = false;
    if (text !== this.stack) {
      this.levels = levels.map((level) => ({ ...level, on: true }));
      this.past = [];
    }
    this.now = JSON.stringify(this.levels);
    return true;
  }

  /** Another stack, which the visitor chose and can take back; whether the text is one. @param {string} text */
  choose(text) {
    const { past, now } = this;
    if (!this.set(text)) return false;
    this.past = this.now === now ? past : [...past, now];
    return true;
  }

  /** The visitor has changed the levels, and can take that back. */
  edited() {
    const before = this.now;
    this.now = JSON.stringify(this.levels);
    if (this.now !== before) this.past = [...this.past, before].slice(-UNDONE);
  }

  /** Takes the last change back; whether there was one. */
  undo() {
    const before = this.past.pop();
    if (before === undefined) return false;
    this.now = before;
    this.levels = JSON.parse(before);
    return true;
  }

  /** Another run is shown. @param {Header} header */
  ran(header) {
    this.run = header;
    this.borrowed = Boolean(header.simulated) && !header.preset && header.stack === this.stack;
  }

  /** Moves a level; the roof stays the roof. @param {number} from @param {number} to */
  move(from, to) {
    const top = this.levels.length - 1;
    if (from === to || from < 0 || to < 0 || from >= top || to >= top) return false;
    const [level] = this.levels.splice(from, 1);
    this.levels.splice(to, 0, level);
    return true;
  }

  /** Works out which levels share a model: as the run had it, or as this stack will. */
  plan() {
    const deepest = this.preset?.levels.find((level) => level.depth)?.depth?.max;
    const layers = deepest === undefined ? 0 : deepest + 1;
    this.shared = this.run && this.same ? trunksOf(this.run) : trunksPlanned(this.on, layers);
  }

  shareOf(/** @type {number|null} */ index) {
    const member = this.shared.flatMap((trunk) => trunk.members).find((m) => m.index === index);
    return member ? shareText(member) : "";
  }

  /** The text of a stack with every T in it. @param {Level[]} levels */
  whole(levels) {
    return format(levels.map((level) => ({ ...level, block: blockOf(level, this.find(level)?.default_block ?? 4) })));
  }

  /** What is known of a level. @param {Level} level */
  find(level) {
    if (this.madeUp) return runLevel(this._made(level));
    const named = (this.preset?.levels ?? []).filter((l) => l.name === level.name);
    const exact = named.find((l) => l.params?.id && l.params.id === level.options.id);
    return (
      exact ?? named[0] ?? (this.same ? runLevel(this.run?.levels[this.on.findIndex((one) => one === level)]) : null)
    );
  }

  /** What the floors say of their levels, cheapest first; no two by one name. @returns {Info[]} */
  infos() {
    const isSame = this.same;
    const infos = this.levels.map((level) => this._info(level, isSame));
    const labels = numbered(infos.map((info) => info.label));
    return infos.map((info, i) => ({ ...info, label: labels[i] }));
  }

  _info(/** @type {OnLevel} */ level, /** @type {boolean} */ isSame) {
    const index = this.on.indexOf(level);
    const ran = isSame && index >= 0 ? (this.run?.levels[index] ?? null) : null;
    const known = this.find(level);
    const made = this.madeUp;
    return {
      kind: ran?.kind ?? known?.kind ?? level.name,
      name: level.name,
      label: made && known ? known.label : levelName(level),
      block: blockOf(level, ran?.block ?? known?.default_block ?? 4),
      written: writtenAs(level, blockOf(level, ran?.block ?? known?.default_block ?? 4), level === this.levels.at(-1)),
      note: made || (ran && this.run?.simulated) ? TOWER.simulated : noteOf(level, ran, known, this.shareOf(index)),
      eager: ran?.params?.eager, // why its passes are launched kernel by kernel on a GPU
    };
  }

  /** The level of the simulated run that this one stands for, or null. @param {Level} level */
  _made(level) {
    if (!this.borrowed || !this.run) return null;
    const at = (parse(this.run.stack) ?? []).findIndex(
      (ran) => ran?.name === level.name && ran?.options.id === level.options.id,
    );
    return this.run.levels[at] ?? null;
  }
}

// ---- What the server says against stacks: asked for once each, a moment after the last change. Until an answer comes, the
// last one stands for the levels that it spoke of.

const SETTLE_MS = 80;
const KEPT = 200; // answers; then they are asked for again

/** @typedef {{level: number, reason: string}} Fault level: its place in the stack, cheapest first */

export class Faults {
  /** @param {() => void} onNews */
  constructor(onNews) {
    this.onNews = onNews;
    /** @type {Map<string, Fault[]>} */ this.known = new Map();
    /** @type {Map<object, string>} */ this.last = new Map(); // of the last answer: why, by the level
    this._wanted = "";
    /** @type {Promise<void>} */ this.settled = Promise.resolve(); // when what was asked last is answered
  }

  /** What speaks against these levels, as far as it is known. @param {string} stack @param {object[]} levels */
  of(stack, levels) {
    const known = this.known.get(stack);
    if (known) this.last = new Map(known.map(({ level, reason }) => [levels[level], reason]));
    return this.last;
  }

  /** Has a stack looked at. @param {string} stack */
  ask(stack) {
    if (stack === this._wanted) return;
    this._wanted = stack;
    if (!this.known.has(stack)) this.settled = this._fetch(stack);
  }

  /** @param {string} stack */
  async _fetch(stack) {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    if (stack !== this._wanted) return; // another one was asked for since
    const query = new URLSearchParams({ stack });
    const reply = await fetch(new URL(`../../../../../planner/faults?${query}`, import.meta.url)).catch(() => null);
    const found = reply?.ok ? await reply.json().catch(() => null) : null;
    if (this.known.size > KEPT) this.known.clear();
    /** @type {Fault[]} */ const faults = found?.faults ?? [];
    if (found)
      this.known.set(
        stack,
        faults.map((one) => ({ ...one, reason: heard(one.reason) })),
      );
    if (stack !== this._wanted) return;
    // Without an answer nothing is held against it: Generate asks again, and so does the next change.
    if (!found) [this._wanted, this.last] = ["", new Map()];
    this.onNews();
  }
}
