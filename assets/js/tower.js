/** The tower: the stack as a building, cheapest level on the ground floor, the target as the roof. It is the composer
 *  (switches, order, T, rules) and the live gauge of the run that is shown, when the two are the same stack. */

import { addMenu } from "./add-level.js";
import { Forecast } from "./forecast/forecast.js";
import { words as foretold } from "./words/forecast.js";
import { Prices } from "./forecast/prices.js";
import { h, say } from "./dom.js";
import { reorder } from "./drag.js";
import { floorOf } from "./floor.js";
import { styleLevels, toldApart } from "./kinds.js";
import { Origin } from "./origin.js";
import { blockOf, faults, format, parse, same } from "./stack.js";
import { pictureButton } from "./picture/button.js";
import { shaftOf } from "./shaft.js";
import { shareText, trunksOf, trunksPlanned } from "./trunk.js";
import { trunkView } from "./trunk-view.js";
import { towerKey } from "./tower-key.js";
import { callsOf, inPlan, noteOf, planText, runLevel, shortName } from "./floor-notes.js";
import { TOWER } from "./words/tower.js";

/**
 * @param {HTMLElement} host
 * @param {{presets: string[], fixed?: boolean, replans: () => boolean, ready: () => boolean, settings: () => object,
 *   onChange: (stack: string, replan?: boolean) => void}} ctx
 *   presets: names in the catalogue. fixed: the stack is shown and cannot be changed. settings: of the next run. replans: whether runs choose their levels anew;
 *   onChange says so of a ready-made stack. ready: whether Generate can be pressed.
 */
export function createTower(host, ctx) {
  const tower = new Tower(ctx);
  host.append(tower.el);
  return tower;
}

class Tower {
  constructor(ctx) {
    this.ctx = ctx;
    this.levels = []; // cheapest first: {name, block, options, on}
    this.preset = null;
    this.run = null; // header of the run that is shown
    this.borrowed = false; // whether the levels are those of a simulated run that nobody has weights for
    this.views = []; // floors, cheapest first
    this.shared = []; // trunks of the stack
    this.columns = []; // their views
    this.open = new Set(); // levels whose details are open
    this.list = h("ol", { class: "hx-floors", "aria-label": TOWER.levels });
    this.note = h("p", { class: "hx-tower-note" });
    this.origin = new Origin();
    this.presets = h("select", {
      class: "hx-select hx-stack-pick",
      "aria-label": TOWER.readyMade,
      onchange: () => this._pick(),
    });
    this.forecast = new Forecast();
    this.prices = new Prices(() => this._foretell());
    this.add = addMenu({
      levels: () => this.levels,
      onAdd: (level, index) => this._add(level, index),
      onOpen: () => this._foretell(),
    });
    if (ctx.fixed) this.add.el.hidden = this.presets.hidden = true;
    this.trunks = h("div", { class: "hx-trunks" });
    this.house = h(
      "div",
      { class: "hx-tower-built" },
      h("div", { class: "hx-roof", "aria-hidden": "true" }),
      h("div", { class: "hx-tower-house" }, this.list, this.trunks),
    );
    this.el = h(
      "section",
      { class: `hx-tower${ctx.fixed ? " hx-fixed" : ""}`, "aria-label": TOWER.label },
      h(
        "header",
        { class: "hx-panel-head" },
        h("h2", { text: TOWER.title }),
        this.presets,
        pictureButton(
          () => this.house,
          () => TOWER.picture,
        ),
      ),
      h("div", { class: "hx-tower-body" }, this.house, this.add.el),
      ctx.fixed ? null : this.forecast.el,
      towerKey(),
      this.note,
      this.origin.el,
    );
    if (!ctx.fixed) reorder(this.list, (from, to) => this.move(from, Math.min(to, this.levels.length - 2)));
  }

  get stack() {
    return format(this.levels.filter((level) => level.on));
  }

  /** Reasons why this stack cannot run, as sentences. */
  get faults() {
    return faults(
      this.levels.filter((level) => level.on),
      (level) => this._find(level),
    ).map((f) => f.reason);
  }

  /** Another preset: its levels are what can be added. */
  setPreset(preset) {
    this.preset = preset;
    const stacks = preset?.stacks ?? [];
    this.presets.replaceChildren(
      h("option", { value: "", text: stacks.length ? TOWER.readyMade : TOWER.own }),
      ...stacks.map((s) => h("option", { value: s.name, text: s.note ? `${s.title} · ${s.note}` : s.title })),
    );
    this.render();
  }

  /** Shows a stack; returns false when the text is none. */
  setStack(text) {
    const levels = parse(text);
    if (!levels) return false;
    this.borrowed = false;
    if (text !== this.stack) this.levels = levels.map((level) => ({ ...level, on: true }));
    this.render();
    return true;
  }

  /** The run whose figures the floors show. */
  setRun(header) {
    this.run = header;
    this.borrowed = Boolean(header.simulated) && !header.preset && header.stack === this.stack;
    this.render();
  }

  /** Structure: rebuilt when the stack changes, never while a run plays. */
  render() {
    const on = this.levels.filter((level) => level.on);
    const bad = new Map(faults(on, (level) => this._find(level)).map((f) => [on[f.index], f.reason]));
    const same = this._same();
    this.isSame = same;
    this._plan();
    const infos = this._infos(same);
    const looks = styleLevels(infos);
    this._drawTrunks(looks);
    const focus = this._focused();
    let at = 0;
    this.views = this.levels.map((level, i) => {
      const index = level.on ? at++ : null;
      const view = floorOf(level, {
        position: i,
        levels: this.levels.length,
        fixed: Boolean(this.ctx.fixed),
        top: i === this.levels.length - 1,
        bottom: i === 0,
        look: looks[i],
        info: infos[i],
        reason: bad.get(level) ?? "",
        open: this.open.has(level),
        depth: this._find(level)?.depth ?? null,
        drafts: this._find(level)?.drafts ?? [],
        share: this._shareOf(index),
        onEdit: () => this._edited(),
        onPreview: () => {
          this._plan();
          this._drawTrunks(looks);
        },
        onMove: (step) => this.move(i, i + step),
        onRemove: () => this._remove(i),
        onOpen: (open) => (open ? this.open.add(level) : this.open.delete(level)),
      });
      const shaft = i > 0 ? shaftOf() : null;
      if (shaft) view.el.append(shaft.el);
      return { ...view, shaft, index };
    });
    this.list.replaceChildren(...this.views.map((view) => view.el).reverse());
    this.add.show(this.preset);
    say(this.note, this.remark);
    this.el.classList.toggle("hx-stale", Boolean(this.run) && !same);
    this.nameStack();
    this._restore(focus);
    this._last = null;
  }

  /** Gauges at a moment of the run. */
  update(model, cursor) {
    const same = model?.header && this.isSame;
    const kv = same ? model.kvAt(cursor) : null;
    const longest = same ? model.header.prompt_ids.length + model.header.max_new_tokens : 1;
    const round = same ? (model.rounds[model.roundAt(cursor)]?.round ?? null) : null;
    const plan = same ? model.planAt(cursor) : null;
    say(this.note, plan ? planText(plan) : this.remark);
    this.origin.show(same ? model.header : null, this.ctx.settings());
    this.forecast.measured(same ? model : null);
    for (const view of this.columns) view.update(same ? model : null, cursor, round);
    for (const view of this.views) {
      const level = view.index === null ? null : view.index;
      const figures = same && level !== null ? model.figures.of(cursor, level) : null;
      view.update(
        figures && { ...figures, ms_per_call: figures.ms_per_call ?? callsOf(model, cursor, level, figures) },
        level === null ? null : (kv?.levels.find((l) => l.level === level) ?? null),
        longest,
      );
      view.plan(...inPlan(plan, level));
      if (view.shaft) view.shaft.update(same && level !== null ? model : null, cursor, level, round, figures);
    }
  }

  /** What the note below the tower says where no plan is followed. */
  get remark() {
    if (this.madeUp) return this.isSame ? TOWER.madeUp : TOWER.madeUpOther;
    if (!this.run || this.isSame) return "";
    return this.ctx.ready() ? `${TOWER.other} ${TOWER.runThis}` : TOWER.other;
  }

  /** Moves a level; the roof stays the roof. What had the focus goes with its floor, so that it can be moved on. */
  move(from, to) {
    const top = this.levels.length - 1;
    if (from === to || from < 0 || to < 0 || from >= top || to >= top) return;
    const key = this._focused()?.replace(/\d+$/, "");
    const [level] = this.levels.splice(from, 1);
    this.levels.splice(to, 0, level);
    this._edited();
    if (key && !this._restore(`${key}${to}`)) this._restore(`grip-${to}`);
  }

  /** Which levels share a model: as the run had it, or as this stack will. */
  _plan() {
    const on = this.levels.filter((level) => level.on);
    const layers = this.preset?.levels.find((level) => level.depth)?.depth.max + 1 || 0;
    this.shared = this._same() ? trunksOf(this.run) : trunksPlanned(on, layers);
  }

  _shareOf(index) {
    const member = this.shared.flatMap((trunk) => trunk.members).find((m) => m.index === index);
    return member ? shareText(member) : "";
  }

  _drawTrunks(looks) {
    const on = looks.filter((_, i) => this.levels[i].on);
    this.columns = this.shared.map((trunk) => trunkView(trunk, (index) => on[index]));
    this.trunks.replaceChildren(...this.columns.map((view) => view.el));
    this.trunks.hidden = !this.columns.length;
    this.el.closest(".hx-main")?.classList.toggle("hx-trunked", this.columns.length > 0);
  }

  _edited() {
    this.render();
    this.ctx.onChange(this.stack);
  }

  _add(level, index) {
    this.levels.splice(index, 0, { ...level, on: true });
    this._edited();
  }

  _remove(i) {
    this.levels.splice(i, 1);
    this._edited();
  }

  /** Shows which of the ready-made stacks this is. */
  nameStack() {
    if (!this.run || !this.isSame) say(this.note, this.remark);
    const made = this.preset?.stacks?.find((s) => s.stack === this.stack && Boolean(s.replan) === this.ctx.replans());
    this.presets.value = made?.name ?? "";
    this._foretell();
    this.origin.show(this.isSame ? this.run : null, this.ctx.settings());
  }

  /** What the theory says of this stack, and of it with each level that may be added. */
  _foretell() {
    if (this.ctx.fixed || !this.preset) return;
    const { preset, device, temperature, replan } = /** @type {any} */ (this.ctx.settings());
    const where = { preset, device: (device ?? "").split(":")[0], temperature: Number(temperature) || 0 };
    const on = this.levels.filter((level) => level.on);
    const stack = this._whole(on);
    const reason = this.madeUp ? foretold.madeUp : replan ? foretold.auto : this.faults.length ? foretold.faulty : "";
    const price = reason ? { reason, about: null } : this.prices.of(where, stack);
    this.forecast.show(price, where.temperature);
    if (reason) return this.add.foretell(null);
    const options = this.add.open ? this.add.options(on) : [];
    const stacks = options.map((levels) => this._whole(levels));
    this.prices.ask(where, [stack, ...stacks]);
    this.add.foretell(
      stacks.map((one) => this.prices.of(where, one)),
      price,
    );
  }

  /** The text of a stack with every T in it. */
  _whole(levels) {
    return format(levels.map((level) => ({ ...level, block: blockOf(level, this._find(level)?.default_block ?? 4) })));
  }

  _pick() {
    const made = this.preset.stacks.find((s) => s.name === this.presets.value);
    if (made && this.setStack(made.stack)) this.ctx.onChange(this.stack, Boolean(made.replan));
  }

  _same() {
    const ran = this.run && parse(this.run.stack);
    const elsewhere = ran && this.ctx.presets.includes(this.run.preset) && this.run.preset !== this.preset?.name;
    return ran && !elsewhere
      ? same(
          ran,
          this.levels.filter((level) => level.on),
          this.run.levels.map((level) => level.block),
        )
      : false;
  }

  /** Whether every level is one of a simulated run that nobody has weights for; order and T may differ. */
  get madeUp() {
    const made = this.levels.map((level) => this._made(level));
    return this.borrowed && made.length > 0 && made.every(Boolean);
  }

  /** The level of the simulated run that this one stands for, or null. */
  _made(level) {
    if (!this.borrowed) return null;
    const at = (parse(this.run.stack) ?? []).findIndex(
      (ran) => ran?.name === level.name && ran?.options.id === level.options.id,
    );
    return this.run.levels[at] ?? null;
  }

  _find(level) {
    if (this.madeUp) return runLevel(this._made(level));
    const named = (this.preset?.levels ?? []).filter((l) => l.name === level.name);
    const exact = named.find((l) => l.params?.id && l.params.id === level.options.id);
    return (
      exact ??
      named[0] ??
      (this._same() ? runLevel(this.run.levels[this.levels.filter((l) => l.on).indexOf(level)]) : null)
    );
  }

  /** What the floors say of their levels, cheapest first; no two by one name. */
  _infos(same) {
    const infos = this.levels.map((level) => this._info(level, same));
    const labels = toldApart(
      infos.map((info) => info.label),
      infos,
    );
    return infos.map((info, i) => ({ ...info, label: labels[i] }));
  }

  _info(level, same) {
    const index = this.levels.filter((l) => l.on).indexOf(level);
    const ran = same && index >= 0 ? this.run.levels[index] : null;
    const known = this._find(level);
    const made = this.madeUp;
    return {
      kind: ran?.kind ?? known?.kind ?? level.name,
      name: level.name,
      label: made ? known.label : shortName(level, ran, known),
      block: blockOf(level, ran?.block ?? known?.default_block ?? 4),
      params: { at: level.options.at ?? ran?.params?.at },
      note: made || (ran && this.run.simulated) ? TOWER.simulated : noteOf(level, ran, known, this._shareOf(index)),
      eager: ran?.params?.eager, // why its passes are launched kernel by kernel on a GPU
    };
  }

  _focused() {
    const active = document.activeElement;
    return active instanceof HTMLElement && this.el.contains(active) ? (active.dataset.key ?? null) : null;
  }

  /** Gives the focus to a control; whether it can have it. */
  _restore(key) {
    const control = key && this.el.querySelector(`[data-key="${CSS.escape(key)}"]:enabled`);
    control?.focus();
    return Boolean(control);
  }
}
