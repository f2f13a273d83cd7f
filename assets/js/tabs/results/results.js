/** The Results tab: what was measured on the chosen machine, in a sentence and one chart; all else one step behind.
 *  `mount` is called once by its component. */

import { translated } from "../../../text/heard.js";
import { disclosure, h, tips } from "../../shared/kit/dom.js";
import { loadStyles } from "../../shared/kit/styles.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { rememberTheme } from "../../shared/kit/theme.js";
import { learned } from "../../shared/levels/kinds.js";
import { Plot } from "../../shared/plots/plots.js";
import { bringLater, brought } from "../../systems/index.js";
import { barsPanel } from "./target-bars.js";
import { drawnFigure, paperFigure, tasksFigure } from "./by-task.js";
import { claimPanel } from "./claim.js";
import { columnsOf } from "./columns.js";
import { NOW, machinePicker } from "./machine-picker.js";
import { missingCard, originCard } from "./results-origin.js";
import { priceFigure } from "./what-is-lost.js";
import { quickPanel } from "./quick.js";
import { comparison } from "./table.js";
import { LOST, RESULTS } from "../../../text/en/results.js";
import { onLook } from "../../shared/plots/look.js";

/** @import {Payload, Ports} from "../../shared/visit/session.js" @import {StudyKind} from "../../systems/index.js"
 *  @import {Column} from "./columns.js" */

/** @param {HTMLElement} root
 *  @param {{props: {setup: string, value: string}, watch: (name: string, f: () => void) => void, root: string} &
 *    Ports} ports */
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
  constructor(/** @type {Element} */ root, /** @type {any} */ setup, /** @type {any} */ ports) {
    this.setup = setup;
    /** @type {Column|null} */ this.column = null; // that is shown
    this.base = ports.root;
    /** @type {any[]} */ this.reports = [];
    /** @type {any[]} */ this.missing = [];
    /** @type {Map<string, any>} */ this.now = new Map(); // by preset: what was measured here a moment ago
    this.quick = quickPanel({ setup, ports, onResults: (found) => this.add(found) });
    this.picker = machinePicker({ onPick: (id) => this.pick(id) });
    this.note = h("p.hx-plan-fault", { role: "alert", hidden: true });
    this.claim = h("div.hx-res-said-first", { "aria-live": "polite" });
    this.bars = h("div");
    this.tasks = new Plot("tasks", { url: this.base + setup.plotly, label: RESULTS.byTask });
    this.paper = new Plot("paper", { url: this.base + setup.plotly, label: RESULTS.byTask });
    this.drawn = new Plot("drawn", { url: this.base + setup.plotly, label: RESULTS.drawn });
    this.lost = /** @type {["spared", "surprise"]} */ (["spared", "surprise"]).map((measure) => ({
      measure,
      plot: new Plot(measure, { url: this.base + setup.plotly, label: LOST.disclosure }),
    }));
    this.all = h("div");
    this.cards = h("div.hx-res-cards");
    this.here = disclosure("here", RESULTS.here, [this.quick.el], { about: RESULTS.hereAbout });
    this.behind = h("div.hx-res-behind", [
      disclosure("tasks", RESULTS.byTask, [this.tasks.el, this.paper.el, this.drawn.el], {
        about: RESULTS.byTaskAbout,
      }),
      disclosure(
        "lost",
        LOST.disclosure,
        this.lost.map(({ plot }) => plot.el),
        { about: LOST.about },
      ),
      disclosure("all", RESULTS.all, [this.all], { about: RESULTS.allAbout }),
      brought.studies // as they arrive: whichever was loaded first
        .toSorted((a, b) => a.words.title.localeCompare(b.words.title, "en"))
        .map((one) => this.studies(one)),
      disclosure("origin", RESULTS.origin, [this.cards], { about: RESULTS.originAbout }),
      this.here,
    ]);
    this.el = h("div.hx-stage.hx-planner.hx-results", [
      h("header.hx-res-top", [h("div", [h("h1", RESULTS.title), h("p.hx-plan-text", RESULTS.lead)]), this.picker.el]),
      this.note,
      this.claim,
      this.bars,
      this.behind,
    ]);
    root.replaceChildren(this.el);
    tips(this.el);
    onLook(() => this.drawTasks());
  }

  /** Those that a system shows, where some are shipped. @param {StudyKind} one */
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
  heard(/** @type {Payload} */ payload) {
    if (!payload.final) this.here.open = true;
    this.quick.apply(payload);
  }

  /** What the quick set found: a machine of its preset. Gives what brings it into view. @param {any} found */
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

  pick(/** @type {string} */ id) {
    setQuery({ bench: id.startsWith(NOW) ? null : id });
    this.show(id);
  }

  /** @param {string} id as the picker names a benchmark */
  show(id) {
    this.picker.set(id);
    const { preset, at, lack } = this.picker.found(id);
    const known = this.setup.presets.find((/** @type {{name: string}} */ one) => one.name === preset) ?? {
      name: preset,
      title: preset,
    };
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
    for (const one of this.behind.querySelectorAll('[data-more="tasks"], [data-more="lost"], [data-more="all"]'))
      one.toggleAttribute("hidden", !this.column);
    this.drawTasks();
  }

  /** The chosen one's claim; where nobody loses, with the way to another machine where somebody does.
   *  @param {Column} column @param {string} usual @param {Column[]} columns @param {any[]} missing */
  claimed(column, usual, columns, missing) {
    const losers = columns.filter((one) => one.results.claim?.loses.length);
    const other = column.results.claim?.best.length && !losers.includes(column) ? losers[0] : null;
    const way = other ? { column: other, onPick: () => this.pick(this.picker.idOf(other)) } : null;
    return claimPanel(column, usual, way, missing);
  }

  /** The colours are the page's, so a change of theme redraws it. */
  drawTasks() {
    if (!this.column) return;
    this.tasks.show(tasksFigure(this.column));
    const show = (/** @type {Plot} */ plot, /** @type {ReturnType<typeof paperFigure>} */ shown) => {
      plot.el.toggleAttribute("hidden", !shown);
      if (shown) plot.show(shown);
    };
    show(this.paper, paperFigure(this.column));
    show(this.drawn, drawnFigure(this.column));
    const lost = this.lost.map(({ measure }) => priceFigure(/** @type {Column} */ (this.column), measure));
    this.behind.querySelector('[data-more="lost"]')?.toggleAttribute("hidden", !lost[0]);
    this.lost.forEach(({ plot }, i) => lost[i] && plot.show(lost[i]));
  }
}

const notYet = (/** @type {any} */ lack) =>
  h("div.hx-panel.hx-plan-empty.hx-res-none", [
    h("h2.hx-res-headline", { tabindex: "-1", text: RESULTS.none }),
    h("p", RESULTS.noneText),
    lack && missingCard(lack),
  ]);

// Studies on the Results tab: fetched once, their figures drawn when they come into sight, and again in another theme
// or size.

/** @typedef {{title: string, text: string, figure: any, table: any}} Shown */

/** @param {StudyKind} of
 *  @param {{url: string, plotly: string, presets: {name: string, title: string}[]}} from where the studies and plotly's
 *    script are @returns {HTMLElement} */
function studySheets({ words, figures }, { url, plotly, presets }) {
  const { title, unreachable, command } = words;
  /** @type {{plot: Plot, make: () => Shown|null}[]} */ const plots = [];
  const el = h("section.hx-res-study", { "aria-label": title });
  const draw = () => {
    for (const { plot, make } of plots) plot.show(/** @type {Shown} */ (make()));
  };
  const sheet = (/** @type {any} */ study) => {
    const { about } = study;
    const label = presets.find(({ name }) => name === about.preset)?.title ?? about.preset;
    const lead = words.lead(label, { ...about, day: about.recorded.slice(0, 10) }, study);
    const made = figures(study).flatMap(([name, make]) => {
      const first = make();
      if (!first?.figure) return [];
      const plot = new Plot(name, { url: plotly, label: `${label}: ${first.title}` });
      plots.push({ plot, make });
      return [plot.el];
    });
    return [
      h("p.hx-plan-text", lead),
      h("div.hx-res-study-grid", made),
      h("p.hx-plan-text", [`${command}: `, h("code", about.command)]),
    ];
  };
  fetch(url)
    .then((reply) => (reply.ok ? reply.json() : Promise.reject(new Error(String(reply.status)))))
    .then(({ studies }) => {
      el.replaceChildren(...studies.flatMap(sheet));
      draw();
    })
    .catch(() => {
      el.replaceChildren(h("p.hx-plan-fault", { role: "alert", text: unreachable }));
    });
  onLook(draw);
  return el;
}
