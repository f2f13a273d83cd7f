/** The Results tab: what was measured on which machine, and the quick set here and now. `mount` is called once by its
 *  component. */

import { h, tips } from "../kit/dom.js";
import { learn } from "../levels/kinds.js";
import { loadStyles } from "../kit/styles.js";
import { rememberTheme } from "../kit/theme.js";
import { Plot } from "../plots/plots.js";
import { ratesFigure, tasksFigure } from "./charts.js";
import { columnsOf } from "./columns.js";
import { earlyExits } from "./exits/early-exits.js";
import { missingCard, originCard } from "./results-origin.js";
import { quickPanel } from "./quick.js";
import { comparison } from "./table.js";
import { RESULTS } from "../words/tabs/results.js";

const SETTLE_MS = 250; // a window that is being dragged is not redrawn

/**
 * @param {HTMLElement} root
 * @param {{props: {setup: string, value: string}, watch: (name: string, f: () => void) => void, root: string} &
 *   import("../visit/session.js").Ports} ports
 */
export async function mount(root, ports) {
  rememberTheme();
  await loadStyles("planner", "results");
  const setup = JSON.parse(ports.props.setup);
  learn(setup.grammar);
  const page = new ResultsPage(root.querySelector(".hx-root") ?? root, setup, ports);
  ports.watch("value", () => ports.props.value && page.quick.apply(JSON.parse(ports.props.value)));
  await page.begin();
}

class ResultsPage {
  constructor(root, setup, ports) {
    this.setup = setup;
    this.base = ports.root;
    /** @type {any[]} */ this.reports = [];
    /** @type {any[]} */ this.missing = [];
    /** @type {Map<string, any>} */ this.now = new Map(); // by preset: what was measured here a moment ago
    /** @type {{plot: Plot, figure: () => any}[]} */ this.plots = [];
    this.quick = quickPanel({ setup, ports, onResults: (found) => this.add(found) });
    this.note = h("p", { class: "hx-plan-fault", role: "alert", hidden: true });
    this.body = h("div", { class: "hx-res-body" });
    this.el = h(
      "div",
      { class: "hx-stage hx-planner hx-results" },
      h(
        "header",
        { class: "hx-res-top" },
        h("h1", { text: RESULTS.title }),
        h("p", {
          class: "hx-plan-text",
          text: RESULTS.lead,
        }),
      ),
      this.quick.el,
      this.note,
      this.body,
      earlyExits(setup, this.base),
    );
    root.replaceChildren(this.el);
    tips(this.el);
    new MutationObserver(() => this.drawPlots()).observe(document.body, { attributeFilter: ["class"] });
    let settling = 0;
    let drawn = innerWidth;
    addEventListener("resize", () => {
      clearTimeout(settling);
      settling = setTimeout(() => {
        if (drawn !== innerWidth) this.drawPlots();
        drawn = innerWidth;
      }, SETTLE_MS);
    });
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
    this.draw();
  }

  /**
   * What the quick set found: a column of its preset's table. Gives what brings that into view.
   * @param {{results: any, csv: string, text: string}} found
   */
  add(found) {
    const { preset } = found.results.about;
    this.now.set(preset, found);
    this.draw();
    return () => {
      const head = this.body.querySelector(`[data-preset="${CSS.escape(preset)}"] h2`);
      head?.scrollIntoView({ block: "start" });
      head?.focus({ preventScroll: true });
    };
  }

  draw() {
    this.plots = [];
    const named = [...this.reports, ...this.now.values()].map(({ results }) => results.about.preset);
    const listed = this.setup.presets.map(({ name }) => name);
    const place = (/** @type {string} */ preset) => (listed.includes(preset) ? listed.indexOf(preset) : listed.length);
    const presets = [...new Set([...named, ...this.missing.map(({ preset }) => preset)])];
    presets.sort((a, b) => place(a) - place(b)); // the usual one first, as everywhere on the page
    this.body.replaceChildren(...presets.map((preset) => this.section(preset)));
    this.drawPlots();
  }

  /** All that was measured of one preset. @param {string} preset */
  section(preset) {
    const missing = this.missing.filter((one) => one.preset === preset);
    const columns = columnsOf(
      this.reports.filter(({ results }) => results.about.preset === preset),
      this.now.get(preset),
    );
    const known = this.setup.presets.find((one) => one.name === preset) ?? { name: preset, title: preset };
    const { title } = known;
    const cards = [...columns.map((column) => originCard(column, title)), ...missing.map(missingCard)];
    return h(
      "section",
      { class: "hx-res-preset", "aria-label": title, "data-preset": preset },
      h("h2", { class: "hx-res-h", tabindex: "-1", text: title }),
      columns.length ? comparison(columns, missing, known) : notYet(),
      columns.length ? this.charts(columns, title) : null,
      h("div", { class: "hx-res-cards" }, ...cards),
    );
  }

  charts(columns, title) {
    const plot = (name, label, figure) => {
      const made = new Plot(name, { url: this.base + this.setup.plotly, label });
      this.plots.push({ plot: made, figure });
      return made.el;
    };
    return h(
      "div",
      { class: "hx-res-charts", "data-machines": columns.length },
      plot("rates", RESULTS.rates(title), () => ratesFigure(columns)),
      ...columns.map((column) => plot("tasks", RESULTS.tasks(title, column.name), () => tasksFigure(column))),
    );
  }

  /** The colours are the page's, so a change of theme redraws them. */
  drawPlots() {
    for (const { plot, figure } of this.plots) plot.show(figure());
  }
}

const notYet = () =>
  h(
    "div",
    { class: "hx-panel hx-plan-empty hx-res-none" },
    h("h3", { class: "hx-plan-h", text: RESULTS.none }),
    h("p", { text: RESULTS.noneText }),
  );
