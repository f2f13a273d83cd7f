/** The tower: the stack as a building, cheapest level on the ground floor, the target as the roof. It is the composer
 *  (switches, order, T, rules) and the live gauge of the run that is shown, when the two are the same stack. */

import { addMenu } from "./add-level.js";
import { Composition, Faults } from "./composition.js";
import { Forecast, Prices } from "./forecast/forecast.js";
import { words as foretold } from "../../../../text/en/forecast.js";
import { h, icon, say } from "../../../shared/kit/dom.js";
import { reorder } from "./drag.js";
import { floorOf } from "./floor/floor.js";
import { heatOf } from "../../../shared/levels/greedy.js";
import { styleLevels } from "../../../shared/levels/kinds.js";
import { dependsOnLength, lengthOf } from "../../../shared/levels/text-length.js";
import { nameOfStack } from "../../../shared/levels/stack-names.js";
import { Origin } from "./plan-origin.js";
import { pictureButton } from "../../../shared/kit/picture/button.js";
import { shaftOf, trunkView } from "./trunk-view.js";
import { towerWords } from "./tower-words.js";
import { callsOf, inPlan, planText } from "./floor/floor-notes.js";
import { PANEL } from "../../../../text/en/panels.js";
import { TOWER } from "../../../../text/en/tower.js";

/** @import {Look} from "../../../shared/levels/kinds.js"
 *  @import {Level, Preset} from "../../../shared/levels/stack.js"
 *  @import {Header} from "../../../shared/run/events.js" @import {TraceModel} from "../../../shared/run/trace.js"
 *  @import {Panels} from "../../../shared/visit/panels.js" */

/** @typedef {{presets: string[], panels: Panels, fixed?: boolean, replans: () => boolean, ready: () => boolean, settings: () => Record<string, any>,
 *    onChange: (stack: string, replan?: boolean) => void, onJudged: () => void, onTell?: (text: string) => void}} Context
 *    presets: names in the catalogue. fixed: the stack is shown and cannot be changed. settings: of the next run. replans: whether runs choose their levels again;
 *    onChange says so of a ready-made stack. ready: whether Generate can be pressed. onJudged: the server has said whether the stack stands. */

/** @param {HTMLElement} host @param {Context} ctx */
export function createTower(host, ctx) {
  const tower = new Tower(ctx);
  host.append(tower.el);
  return tower;
}

/** @typedef {ReturnType<typeof floorOf> & {shaft: ReturnType<typeof shaftOf>|null, index: number|null}} Floor */

/** Whether a key press asks to take back a change of the stack, and not of a text that is being typed. @param {KeyboardEvent} event */
function takesBack(event) {
  if (event.key.toLowerCase() !== "z" || event.shiftKey || event.altKey || !(event.ctrlKey || event.metaKey))
    return false;
  const { target } = event;
  if (target instanceof HTMLTextAreaElement) return false;
  const written = target instanceof HTMLInputElement && !["checkbox", "radio", "range"].includes(target.type);
  return !written || (target.matches(".hx-tower *") && target.value === target.defaultValue);
}

class Tower {
  constructor(/** @type {Context} */ ctx) {
    this.ctx = ctx;
    this.judge = new Faults(() => this._judged());
    this.of = new Composition(ctx.presets, this.judge);
    /** @type {Floor[]} */ this.views = []; // floors, cheapest first
    /** @type {ReturnType<typeof trunkView>[]} */ this.columns = []; // views of the trunks
    this.open = new Set(); // levels whose details are open
    this.list = h("ol.hx-floors", { "aria-label": TOWER.levels });
    this.note = h("p.hx-tower-note");
    this.called = h("p.hx-tower-called");
    this.origin = new Origin();
    this.presets = h("select.hx-select.hx-stack-pick", { "aria-label": TOWER.readyMade, onchange: () => this._pick() });
    this.forecast = new Forecast(ctx.panels);
    ctx.panels.onChange(() => ctx.panels.isOpen("prediction") && this._foretell());
    this.prices = new Prices(() => this._foretell());
    this.add = addMenu({
      levels: () => this.of.levels,
      onAdd: (level, index) => this._add(level, index),
      onOpen: () => this._foretell(),
    });
    this.undo = h(
      "button.hx-quiet.hx-undo",
      { ...{ "data-key": "undo", "data-tip": TOWER.undoTip, hidden: true }, onclick: () => this._undo() },
      [icon("undo"), TOWER.undo],
    );
    document.addEventListener("keydown", (event) => {
      if (takesBack(event) && this.el.checkVisibility() && this._undo()) event.preventDefault();
    });
    if (ctx.fixed) this.add.el.hidden = this.presets.hidden = true;
    this.trunks = h("div.hx-trunks");
    this.house = h("div.hx-tower-built", [
      h("div.hx-roof", { "aria-hidden": "true" }),
      h("div.hx-tower-house", [this.list, this.trunks]),
    ]);
    this.el = h("section", { class: `hx-tower${ctx.fixed ? " hx-fixed" : ""}`, "aria-label": TOWER.label }, [
      h("header.hx-panel-head", [
        h("h2", TOWER.title),
        this.presets,
        ctx.fixed ? null : ctx.panels.button("stack", PANEL.stack, PANEL.stackTip),
        pictureButton(
          () => this.house,
          () => TOWER.picture,
        ),
      ]),
      this.called,
      h("div.hx-tower-body", [this.house, h("div.hx-tower-foot", [this.add.el, this.undo, towerWords()])]),
      ctx.fixed ? null : this.forecast.el,
      this.note,
      this.origin.el,
    ]);
    if (!ctx.fixed) reorder(this.list, (from, to) => this.move(from, Math.min(to, this.of.levels.length - 2)));
  }

  get stack() {
    return this.of.stack;
  }

  /** Reasons why this stack cannot run, as sentences. */
  get faults() {
    return [...this.of.bad.values()];
  }

  /** When the server has said what speaks against this stack. */
  settled() {
    return this.judge.settled;
  }

  _judged() {
    const { levels, bad } = this.of;
    this.views.forEach((view, i) => view.refuse(bad.get(levels[i]) ?? ""));
    this.ctx.onJudged();
  }

  /** Whether every level is one of a simulated run that nobody has weights for. */
  get madeUp() {
    return this.of.madeUp;
  }

  /** Another preset: its levels are what can be added. @param {Preset|null|undefined} preset */
  setPreset(preset) {
    this.of.preset = preset ?? null;
    const stacks = preset?.stacks ?? [];
    this.presets.replaceChildren(
      h("option", { value: "", text: stacks.length ? TOWER.readyMade : TOWER.own }),
      ...stacks.map((s) => h("option", { value: s.name, text: s.note ? `${s.title} · ${s.note}` : s.title })),
    );
    this.render();
  }

  /** Shows a stack; returns false when the text is none. @param {string} text */
  setStack(text) {
    if (!this.of.set(text)) return false;
    this.render();
    return true;
  }

  /** The run whose figures the floors show. @param {Header} header */
  setRun(header) {
    this.of.ran(header);
    this.render();
  }

  /** Structure: rebuilt when the stack changes, never while a run plays. */
  render() {
    const { levels, bad } = this.of;
    if (!this.ctx.fixed && levels.length) this.judge.ask(this.stack);
    const same = this.of.same;
    this.isSame = same;
    this.of.plan();
    const infos = this.of.infos();
    const looks = styleLevels(infos);
    this._drawTrunks(looks);
    const focus = this._focused();
    let at = 0;
    this.views = levels.map((level, i) => {
      const index = level.on ? at++ : null;
      const view = floorOf(level, {
        position: i,
        levels: levels.length,
        fixed: Boolean(this.ctx.fixed),
        top: i === levels.length - 1,
        bottom: i === 0,
        look: looks[i],
        info: infos[i],
        reason: bad.get(level) ?? "",
        open: this.open.has(level),
        depth: this.of.find(level)?.depth ?? null,
        drafts: this.of.find(level)?.drafts ?? [],
        share: this.of.shareOf(index),
        onEdit: () => this._edited(),
        onTell: this.ctx.onTell ?? (() => {}),
        onPreview: () => {
          this.of.plan();
          this._drawTrunks(looks);
        },
        onMove: (step) => this.move(i, i + step),
        onRemove: () => this._remove(i),
        onOpen: (open) => (open ? this.open.add(level) : this.open.delete(level)),
      });
      const shaft = i > 0 ? shaftOf(i === levels.length - 1) : null;
      if (shaft) view.el.append(shaft.el);
      return { ...view, shaft, index };
    });
    this.list.replaceChildren(...this.views.map((view) => view.el).reverse());
    this.add.show(this.of.preset);
    this.undo.hidden = !this.of.past.length;
    say(this.note, this.remark);
    this.el.classList.toggle("hx-stale", Boolean(this.of.run) && !same);
    this.nameStack();
    this._restore(focus);
  }

  /** Gauges at a moment of the run. @param {TraceModel|null} model @param {number} cursor */
  update(model, cursor) {
    const header = this.isSame ? model?.header : null;
    const same = header ? model : null;
    const kv = same?.kvAt(cursor) ?? null;
    const longest = header ? header.prompt_ids.length + header.max_new_tokens : 1;
    const round = same?.rounds[same.roundAt(cursor)]?.round ?? null;
    const plan = same?.planAt(cursor) ?? null;
    say(this.note, plan ? planText(plan, Boolean(header?.replan)) : this.remark);
    this.origin.show(header ?? null, this.ctx.settings());
    this.forecast.measured(same);
    for (const view of this.columns) view.update(same, cursor, round);
    for (const view of this.views) {
      const level = view.index === null ? null : view.index;
      const figures = same && level !== null ? same.figures.of(cursor, level) : null;
      view.update(
        same &&
          figures && { ...figures, ms_per_call: figures.ms_per_call ?? callsOf(same, cursor, figures.level, figures) },
        level === null ? null : (kv?.levels.find((l) => l.level === level) ?? null),
        longest,
      );
      view.plan(...inPlan(plan, level));
      view.shaft?.update(level === null ? null : same, cursor, level ?? 0, round, figures);
    }
  }

  /** What the note below the tower says where no plan is followed. */
  get remark() {
    if (this.madeUp) return this.isSame ? TOWER.madeUp : TOWER.madeUpOther;
    if (!this.of.run || this.isSame) return "";
    return this.ctx.ready() ? `${TOWER.other} ${TOWER.runThis}` : TOWER.other;
  }

  /** Moves a level; the roof stays the roof. What had the focus goes with its floor, so that it can be moved on. */
  move(/** @type {number} */ from, /** @type {number} */ to) {
    const key = this._focused()?.replace(/\d+$/, "");
    if (!this.of.move(from, to)) return;
    this._edited();
    if (key && !this._restore(`${key}${to}`)) this._restore(`grip-${to}`);
  }

  _drawTrunks(/** @type {Look[]} */ looks) {
    const on = looks.filter((_, i) => this.of.levels[i].on);
    this.columns = this.of.shared.map((trunk) => trunkView(trunk, (index) => on[index]));
    this.trunks.replaceChildren(...this.columns.map((view) => view.el));
    this.trunks.hidden = !this.columns.length;
    this.el.closest(".hx-main")?.classList.toggle("hx-trunked", this.columns.length > 0);
  }

  _edited() {
    this.of.edited();
    this.render();
    this.ctx.onChange(this.stack);
  }

  _add(/** @type {Level} */ level, /** @type {number} */ index) {
    this.of.levels.splice(index, 0, { ...level, on: true });
    this._edited();
  }

  /** Takes the last change back; whether there was one. */
  _undo() {
    if (!this.of.undo()) return false;
    const held = document.activeElement === this.undo;
    this.render();
    this.ctx.onChange(this.stack);
    if (held && this.undo.hidden) this.add.el.querySelector("summary")?.focus();
    return true;
  }

  _remove(/** @type {number} */ i) {
    this.of.levels.splice(i, 1);
    this._edited();
  }

  /** Shows which of the ready-made stacks this is. */
  nameStack() {
    if (!this.of.run || !this.isSame) say(this.note, this.remark);
    if (this.called.dataset.stack !== this.stack) this._call(this.stack);
    const made = this.of.preset?.stacks?.find(
      (s) => s.stack === this.stack && Boolean(s.replan) === this.ctx.replans(),
    );
    this.presets.value = made?.name ?? "";
    this._foretell();
    this.origin.show(this.isSame ? this.of.run : null, this.ctx.settings());
  }

  /** What the stack is called. @param {string} stack */
  _call(stack) {
    this.called.dataset.stack = stack;
    this.called.replaceChildren(nameOfStack(stack));
  }

  /** What the theory says of this stack, and of it with each level that may be added. */
  _foretell() {
    if (this.ctx.fixed || !this.of.preset) return;
    const settings = this.ctx.settings();
    const { preset, device, replan } = settings;
    const stack = this.of.whole(this.of.on);
    const where = {
      preset,
      device: (device ?? "").split(":")[0],
      temperature: heatOf(settings),
      length: lengthOf(this.of.run),
      by_length: dependsOnLength(stack),
    };
    this.forecast.usual(stack === this.of.preset.default_stack && !replan ? this.of.preset.default : null);
    const reason = this.madeUp ? foretold.madeUp : replan ? foretold.auto : this.faults.length ? foretold.faulty : "";
    const price = reason ? { reason, about: null } : this.prices.of(where, stack);
    this.forecast.show(price, where.temperature, stack);
    if (reason) return this.add.foretell(null);
    const options = this.add.open ? this.add.options(this.of.on) : [];
    const stacks = options.map((levels) => this.of.whole(levels));
    const fewer = this._fewer();
    this.prices.ask(where, [stack, ...stacks, ...fewer.map((one) => one.stack)]);
    this.forecast.compare(fewer.map((one) => ({ name: one.name, price: this.prices.of(where, one.stack) })));
    this.add.foretell(
      stacks.map((one) => this.prices.of(where, one)),
      price,
    );
  }

  /** The stack without each of its levels below the target, while somebody looks at what they are worth. */
  _fewer() {
    const { on } = this.of;
    if (!this.ctx.panels.isOpen("prediction") || on.length < 3) return [];
    const names = styleLevels(this.of.infos().filter((_, i) => this.of.levels[i].on)).map((look) => look.name);
    const below = on.slice(0, -1);
    return below.map((one, i) => ({ name: names[i], stack: this.of.whole(on.filter((other) => other !== one)) }));
  }

  _pick() {
    const made = this.of.preset?.stacks.find((s) => s.name === this.presets.value);
    if (!made || !this.of.choose(made.stack)) return;
    this.render();
    this.ctx.onChange(this.stack, Boolean(made.replan));
  }

  _focused() {
    const active = document.activeElement;
    return active instanceof HTMLElement && this.el.contains(active) ? (active.dataset.key ?? null) : null;
  }

  /** Gives the focus to a control; whether it can have it. @param {string|null} key */
  _restore(key) {
    /** @type {HTMLElement|null} */
    const control = key ? this.el.querySelector(`[data-key="${CSS.escape(key)}"]:enabled`) : null;
    control?.focus();
    return Boolean(control);
  }
}
