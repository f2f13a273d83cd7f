/** The Planner's three plots and the edges of the best path. The numbers follow a slider; the figures come when it
 *  rests, and now and then while it is dragged; those that are out of sight come when they are opened. */

import { Plot } from "../../shared/plots/plots.js";
import { PLANNER } from "../../../text/en/planner.js";
import { h } from "../../shared/kit/dom.js";

/** @import {Hear, Question} from "./another/asker.js" */

const PATIENCE_MS = 1000; // so long a slider may be dragged before its figures follow

/** @typedef {"graph"|"surface"|"validation"} Name */

export class PlanFigures {
  /** @param {string} url of plotly's script @param {(hear: Hear) => {ask: (question: Question) => void}} asker makes one @param {(text: string) => void} fault */
  constructor(url, asker, fault) {
    this.drawer = asker({
      onAnswer: (a, question) => this.drawn(a, question),
      onRefusal: fault,
    });
    /** @param {string} name @param {string} label */
    const plot = (name, label, more = {}) => new Plot(name, { url, label, ...more });
    this.paths = pathList({ onPick: (point) => this.plots.graph.hover(point?.curve ?? null, point?.point) });
    this.plots = {
      graph: plot("graph", PLANNER.plots.graph, {
        onPoint: (/** @type {{customdata?: string[]}|null} */ point) =>
          this.paths.light(point?.customdata?.[0] ?? null),
      }),
      surface: plot("surface", PLANNER.plots.surface),
      validation: plot("validation", PLANNER.plots.validation),
    };
    this.plots.graph.beside.append(this.paths.el);
    /** @type {Set<Name>} */ this.stale = new Set(); // plots that show other plans than the numbers do
    /** @type {Question|null} */ this.question = null; // what the numbers belong to
    this.lastDrawn = 0;
  }

  /** Numbers have come. @param {Question} question theirs @param {{wanted: unknown, busy: boolean}} asker where the next ones may wait */
  follow(question, asker) {
    this.question = question;
    this.asker = asker;
    this.stale = new Set(/** @type {Name[]} */ (Object.keys(this.plots)));
    if (!asker.wanted || performance.now() - this.lastDrawn > PATIENCE_MS) this.draw();
  }

  /** Asks for the figures of the numbers shown: those in sight, then the others that are open. */
  draw() {
    const open = [...this.stale].filter((name) => this.plots[name].el.closest("details")?.open);
    if (!open.length || !this.question) return;
    this.lastDrawn = performance.now();
    const seen = open.filter((name) => this.plots[name].seen);
    this.drawing = { ...this.question, figures: seen.length ? seen : open };
    this.drawer.ask(this.drawing);
  }

  drawn(/** @type {{figures: Record<Name, any>}} */ { figures }, /** @type {Question} */ question) {
    if (question.profile !== this.question?.profile) return; // another one was chosen meanwhile
    for (const [name, figure] of Object.entries(figures)) this.plots[/** @type {Name} */ (name)].show(figure);
    if (figures.graph) this.paths.show(figures.graph.paths ?? []);
    if (question !== this.drawing || this.asker?.busy) return; // newer numbers draw their own
    for (const name of question.figures ?? []) this.stale.delete(/** @type {Name} */ (name));
    this.draw();
  }
}

// The edges of the best path as buttons: what each costs and multiplies. Focus or hover lights the same edge in the
// plot.

/** @typedef {{id: string, name: string, cost: string, gain: string, curve: number, point: number}} Edge */

/** @param {{onPick: (point: {curve: number, point: number}|null) => void}} ctx */
function pathList(ctx) {
  const el = h("ol.hx-plan-edges", { "aria-label": PLANNER.path });
  /** @type {HTMLElement[]} */ let now = [];
  return {
    el,
    show(/** @type {Edge[]} */ edges) {
      now = edges.map((edge) =>
        h(
          "button.hx-plan-edge",
          {
            "data-edge": edge.id,
            onfocus: () => ctx.onPick(edge),
            onmouseenter: () => ctx.onPick(edge),
            onblur: () => ctx.onPick(null),
            onmouseleave: () => ctx.onPick(null),
          },
          [h("b", edge.name), h("span", edge.cost), h("span", edge.gain)],
        ),
      );
      el.replaceChildren(...now.map((button) => h("li", button)));
    },
    /** The edge that the pointer is on in the plot. @param {string|null} id */
    light(id) {
      for (const button of now) button.dataset.lit = String(button.dataset.edge === id);
    },
  };
}
