/** The Results tab: what was measured on the chosen machine, in a sentence and one chart; all else one step behind.
 *  `mount` is called once by its component. */

import { translated } from "../../../text/heard.js";
import { disclosure } from "../../shared/kit/disclosure.js";
import { h, tips } from "../../shared/kit/dom.js";
import { loadStyles } from "../../shared/kit/styles.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { rememberTheme } from "../../shared/kit/theme.js";
import { learned } from "../../shared/levels/kinds.js";
import { Plot } from "../../shared/plots/plots.js";
import { studySheets } from "../../shared/plots/study-sheets.js";
import { bringLater, brought } from "../../systems/index.js";
import { barsPanel } from "./target-bars.js";
import { claimPanel } from "./claim.js";
import { columnsOf } from "./columns.js";
import { NOW, machinePicker } from "./machine-picker.js";
import { missingCard, originCard } from "./results-origin.js";
import { quickPanel } from "./quick.js";
import { comparison } from "./table.js";
import { tasksFigure } from "./task-chart.js";
import { RESULTS } from "../../../text/en/results.js";

const SETTLE_MS = 250; // a window that is being dragged is not redrawn

/**
 * @param {HTMLElement} root
 * @param {{props: {setup: string, value: string}, watch: (name: string, f: () => void) => void, root: string} &
 *   import("../../shared/visit/session.js").Ports} ports
 */
export async function mount(root, ports) {
  rememberTheme();
  await Promise.all([loadStyles("planner", "results"), bringLater("results")]);
  const setup = translated(JSON.parse(ports.props.setup));
  await learned;
  const page = new ResultsPage(root.querySelector(".hx-root") ?? root, setup, ports);
  ports.watch("value", () => ports.props.value && page.heard(JSON.parse(ports.props.value)));
  await page.begin();
}

class ResultsPage {
  constructor(root, setup, ports) {
    this.setup = setup;
    this.base = ports.root;
    /** @type {any[]} */ this.reports = [];
    /** @type {any[]} */ this.missing = [];
    /** @type {Map<string, any>} */ this.now = new Map(); // by preset: what was measured here a moment ago
    this.quick = quickPanel({ setup, ports, onResults: (found) => this.add(found) });
    this.picker = machinePicker({ onPick: (id) => this.pick(id) });
    this.note = h("p", { class: "hx-plan-fault", role: "alert", hidden: true });
    this.claim = h("div", { class: "hx-res-said-first", "aria-live": "polite" });
    this.bars = h("div", {});
    this.tasks = new Plot("tasks", { url: this.base + setup.plotly, label: RESULTS.byTask });
    this.all = h("div", {});
    this.cards = h("div", { class: "hx-res-cards" });
    this.here = disclosure("here", RESULTS.here, [this.quick.el], { about: RESULTS.hereAbout });
    this.behind = h(
      "div",
      { class: "hx-res-behind" },
      disclosure("tasks", RESULTS.byTask, [this.tasks.el], { about: RESULTS.byTaskAbout }),
      disclosure("all", RESULTS.all, [this.all], { about: RESULTS.allAbout }),
      ...brought.studies.map((one) => this.studies(one)),
      disclosure("origin", RESULTS.origin, [this.cards], { about: RESULTS.originAbout }),
      this.here,
    );
    this.el = h(
      "div",
      { class: "hx-stage hx-planner hx-results" },
      h(
        "header",
        { class: "hx-res-top" },
        h("div", {}, h("h1", { text: RESULTS.title }), h("p", { class: "hx-plan-text", text: RESULTS.lead })),
        this.picker.el,
      ),
      this.note,
      this.claim,
      this.bars,
      this.behind,
    );
    root.replaceChildren(this.el);
    tips(this.el);
    new MutationObserver(() => this.drawTasks()).observe(document.body, { attributeFilter: ["class"] });
    let settling = 0;
    let drawn = innerWidth;
    addEventListener("resize", () => {
      clearTimeout(settling);
      settling = setTimeout(() => {
        if (drawn !== innerWidth) this.drawTasks();
        drawn = innerWidth;
      }, SETTLE_MS);
    });
  }

  /** Those that a system shows, where some are shipped. @param {import("../../systems/index.js").StudyKind} one */
  studies(one) {
    const { studies, presets, plotly } = this.setup;
    if (!studies[one.name]) return null;
    const from = { url: this.base + studies[one.name], plotly: this.base + plotly, presets };
    return disclosure(one.name, one.words.title, [studySheets(one, from)], { about: one.words.about });
  }

  async begin() {
    try {
      const reply = await fetch(this.base + this.setup.listing);
      if (!reply.ok) throw new Error(`status ${reply.status}`);
      const found = await reply.json();
      this.reports = found.reports;
      this.missing = found.missing;
    } catch {
      this.note.textContent = RESULTS.unreachable;
      this.note.hidden = false;
    }
    this.list();
    this.show(this.picker.asked());
    this.el.dataset.ready = "true";
  }

  /** A payload of the quick set, whose progress is in sight while it runs. */
  heard(payload) {
    if (!payload.final) this.here.open = true;
    this.quick.apply(payload);
  }

  /** What the quick set found: a machine of its preset. Gives what brings it into view. */
  add(found) {
    const { preset } = found.results.about;
    this.now.set(preset, found);
    this.list();
    this.show(this.picker.value());
    return () => {
      this.pick(`${NOW}${preset}`);
      const head = /** @type {HTMLElement} */ (this.claim.querySelector("h2"));
      head?.scrollIntoView({ block: "nearest" });
      head?.focus({ preventScroll: true });
    };
  }

  list() {
    this.picker.list({ reports: this.reports, now: this.now, missing: this.missing, presets: this.setup.presets });
  }

  pick(id) {
    setQuery({ bench: id.startsWith(NOW) ? null : id });
    this.show(id);
  }

  /** @param {string} id as the picker names a benchmark */
  show(id) {
    this.picker.set(id);
    const { preset, at, lack } = this.picker.found(id);
    const known = this.setup.presets.find((one) => one.name === preset) ?? { name: preset, title: preset };
    const own = this.reports.filter(({ results }) => results.about.preset === preset);
    const columns = columnsOf(own, this.now.get(preset));
    const missing = this.missing.filter((one) => one.preset === preset);
    this.column = columns.find((one) => one.id === at) ?? null;
    this.el.dataset.preset = preset;
    this.claim.replaceChildren(
      this.column
        ? this.claimed(this.column, known.preset_stack ?? known.default_stack, columns, missing)
        : notYet(lack),
    );
    this.bars.replaceChildren(...(this.column ? [barsPanel(this.column, known)] : []));
    this.all.replaceChildren(...(this.column ? [comparison(this.column, columns, missing, known)] : []));
    this.cards.replaceChildren(...columns.map((one) => originCard(one, known.title)), ...missing.map(missingCard));
    for (const one of this.behind.querySelectorAll('[data-more="tasks"], [data-more="all"]'))
      one.toggleAttribute("hidden", !this.column);
    this.drawTasks();
  }

  /** The chosen one's claim; where nobody loses, with the way to another machine where somebody does. */
  claimed(column, usual, columns, missing) {
    const losers = columns.filter((one) => one.results.claim?.loses.length);
    const other = column.results.claim?.best.length && !losers.includes(column) ? losers[0] : null;
    const way = other ? { column: other, onPick: () => this.pick(this.picker.idOf(other)) } : null;
    return claimPanel(column, usual, way, missing);
  }

  /** The colours are the page's, so a change of theme redraws it. */
  drawTasks() {
    if (this.column) this.tasks.show(tasksFigure(this.column));
  }
}

const notYet = (lack) =>
  h(
    "div",
    { class: "hx-panel hx-plan-empty hx-res-none" },
    h("h2", { class: "hx-res-headline", tabindex: "-1", text: RESULTS.none }),
    h("p", { text: RESULTS.noneText }),
    lack ? missingCard(lack) : null,
  );
