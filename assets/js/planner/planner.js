/** The Planner tab: a profile that can be changed, and what the theory makes of it. `mount` is called once by its
 *  component. */

import { h, tips } from "../kit/dom.js";
import { learn } from "../levels/kinds.js";
import { loadStyles } from "../kit/styles.js";
import { isDark, rememberTheme } from "../kit/theme.js";
import { answerPanel } from "./answer.js";
import { stylesOf } from "../levels/badge.js";
import { Asker } from "./asker.js";
import { linked, linkedPlan, planText, turnedBy, writeLink } from "./link.js";
import { pathList } from "./paths.js";
import { Plot } from "../plots/plots.js";
import { copy, reset, same } from "./profile.js";
import { openedProfile, saveProfile } from "./profile-file.js";
import { sourceBar } from "./sources.js";
import { profileTables } from "./tables.js";
import { still, whatIf } from "./whatif.js";
import { PLANNER } from "../words/tabs/planner.js";

const PATIENCE_MS = 1000; // so long a slider may be dragged before its figures follow
const SETTLE_MS = 250; // a window that is being dragged is not asked about

/** @param {HTMLElement} root @param {{props: {setup: string}, root: string}} ports */
export async function mount(root, ports) {
  rememberTheme();
  await loadStyles("planner");
  const setup = JSON.parse(ports.props.setup);
  learn(setup.grammar);
  const page = new PlannerPage(root.querySelector(".hx-root") ?? root, setup, ports.root);
  await page.begin();
}

class PlannerPage {
  constructor(root, setup, base) {
    this.base = base;
    this.setup = setup;
    this.source = null; // {id, title, kind, note, preset, profiles}
    this.measured = null; // the profile as it came
    this.profile = null; // as edited
    this.turned = null; // the sliders
    this.asker = new Asker(base + setup.answer, {
      onAnswer: (a, question) => this.heard(a, question),
      onRefusal: (text) => {
        this.fault(text);
        this.draw();
      },
    });
    this.drawer = new Asker(base + setup.answer, {
      onAnswer: (a, question) => this.drawn(a, question),
      onRefusal: (text) => this.fault(text),
    });
    this.stale = new Set(); // plots that show other plans than the numbers do
    this.lastDrawn = 0;
    this.bar = sourceBar({
      onSource: (source, at) => this.choose(source, at),
      onFile: (file) => this.open(file),
      onSave: () => saveProfile(this.profile, this.source.preset || "profile"),
    });
    this.note = h("p", { class: "hx-plan-fault", role: "alert", hidden: true });
    this.what = whatIf({
      limits: setup.limits,
      onTurn: () => this.ask(),
      onRest: () => this.choose(this.source, this.source.profiles.indexOf(this.measured)),
    });
    // The entry that Back came to has the sliders of its time in its address: it names what is shown.
    addEventListener("popstate", () => this.profile && this.link());
    this.answer = answerPanel({ onUse: (plan) => this.use(plan), onPlay: (plan) => this.play(plan) });
    this.tables = profileTables({
      onEdit: () => {
        this.bar.edited(this.edited());
        this.ask();
      },
      onReset: (part) => {
        reset(this.profile, this.measured, part);
        this.showProfile();
        this.ask();
      },
    });
    const plot = (name, label, more = {}) => new Plot(name, { url: base + setup.plotly, label, ...more });
    this.paths = pathList({ onPick: (point) => this.plots.graph.hover(point?.curve ?? null, point?.point) });
    this.plots = {
      graph: plot("graph", PLANNER.plots.graph, {
        onPoint: (point) => this.paths.light(point?.customdata?.[0] ?? null),
      }),
      surface: plot("surface", PLANNER.plots.surface),
      validation: plot("validation", PLANNER.plots.validation),
    };
    this.plots.graph.beside.append(this.paths.el);
    this.body = h(
      "div",
      { class: "hx-plan-body" },
      this.what.el,
      h("div", { class: "hx-plan-answer" }, ...this.answer.el),
      this.plots.graph.el,
      this.plots.surface.el,
      this.plots.validation.el,
      this.tables.el,
    );
    this.empty = h("section", { class: "hx-panel hx-plan-empty", hidden: true });
    this.el = h("div", { class: "hx-stage hx-planner" }, this.bar.el, this.note, this.empty, this.body);
    root.replaceChildren(this.el);
    tips(this.el);
    new MutationObserver(() => {
      if (this.profile && this.dark !== isDark()) this.ask();
    }).observe(document.body, { attributeFilter: ["class"] });
    this.settling = 0;
    addEventListener("resize", () => {
      clearTimeout(this.settling);
      this.settling = setTimeout(() => {
        if (this.profile && this.size !== size()) this.ask();
      }, SETTLE_MS);
    });
  }

  /** The profiles that there are; the best one is shown. */
  async begin() {
    /** @type {{sources: any[], how: string}} */
    let found = { sources: [], how: "python -m hsd_core calibrate" };
    try {
      found = await (await fetch(this.base + this.setup.sources)).json();
    } catch {
      this.fault(PLANNER.noServer);
    }
    this.how = found.how;
    this.sources = found.sources;
    this.bar.list(found.sources);
    const asked = linked(found.sources);
    this.lost = asked ? null : new URLSearchParams(location.search).get("profile"); // a link from another machine
    const first = found.sources.find((source) => source.profiles.length);
    const [source, at] = asked ?? [first, 0];
    if (source) this.choose(source, at, turnedBy);
    else this.nothing(found);
  }

  /** No profile at all: how to get one. */
  nothing({ sources, how }) {
    this.body.hidden = true;
    this.empty.hidden = false;
    const broken = sources
      .filter((source) => source.reason)
      .map((source) => h("p", { class: "hx-plan-text", text: `${source.title}: ${source.reason}` }));
    this.empty.replaceChildren(
      h("h2", { class: "hx-plan-h", text: PLANNER.noProfile }),
      h("p", { text: PLANNER.whatProfile }),
      h("p", {}, PLANNER.measureOne[0], h("code", { text: how }), PLANNER.measureOne[1]),
      ...broken,
    );
  }

  /** @param {Function} turn where the sliders begin: at rest, or as the address says */
  choose(source, at = 0, turn = still) {
    this.source = source;
    this.measured = source.profiles[at];
    this.profile = copy(this.measured);
    this.turned = turn(this.profile, this.setup.limits);
    this.body.hidden = false;
    this.empty.hidden = true;
    this.styles = null;
    this.bar.show(source, at);
    this.showProfile();
    this.ask();
  }

  showProfile() {
    const styles = this.styles ?? styled(this.profile);
    const list = this.profile.levels.map((level) => styles.get(level.name));
    this.tables.show(this.profile, this.measured, list);
    this.what.show(this.profile, this.turned, list);
    this.bar.edited(this.edited());
  }

  edited() {
    const bare = (profile) => ({
      ...profile,
      levels: profile.levels.map(({ interval_ms: _, ...level }) => level),
      interval: null,
    });
    return !same(bare(this.profile), bare(this.measured));
  }

  ask() {
    this.dark = isDark();
    this.size = size();
    this.link();
    this.asker.ask({
      profile: this.profile,
      source: this.source.id,
      ...this.turned,
      dark: this.dark,
      width: Math.max(1, innerWidth),
      figures: [],
    });
  }

  link() {
    writeLink(this.sources, this.source, this.measured, this.turned);
  }

  heard(answer, question) {
    this.question = question; // what its plans belong to
    this.fault("");
    this.styles ??= styled(this.profile);
    this.answer.show(answer, this.styles);
    this.playLinked();
    this.stale = new Set(Object.keys(this.plots));
    // The numbers follow a slider; the figures come when it rests, and now and then while it is dragged.
    if (!this.asker.wanted || performance.now() - this.lastDrawn > PATIENCE_MS) this.draw();
  }

  /** Asks for the figures of the numbers shown: those in sight, then the others. */
  draw() {
    if (!this.stale.size) return;
    this.lastDrawn = performance.now();
    const seen = [...this.stale].filter((name) => this.plots[name].seen);
    this.drawing = { ...this.question, figures: seen.length ? seen : [...this.stale] };
    this.drawer.ask(this.drawing);
  }

  drawn({ figures }, question) {
    if (question.profile !== this.profile) return; // another one was chosen meanwhile
    for (const [name, figure] of Object.entries(figures)) this.plots[name].show(figure);
    if (figures.graph) this.paths.show(figures.graph.paths ?? []);
    if (question !== this.drawing || this.asker.busy) return; // newer numbers draw their own
    for (const name of question.figures) this.stale.delete(name);
    this.draw();
  }

  fault(text) {
    this.note.textContent = text;
    this.note.hidden = !text;
  }

  async open(file) {
    const { source, fault } = await openedProfile(file, this.base + this.setup.answer);
    if (!source) return this.fault(fault);
    this.bar.add(source);
    return this.choose(source, 0);
  }

  use(plan) {
    if (!plan.runs) return;
    document.dispatchEvent(
      new CustomEvent("hx:use-stack", { detail: { stack: plan.stack, preset: this.source.preset } }),
    );
  }

  /** On the Explore tab's stage, without weights. Numbers that were typed have no link. */
  play({ levels, blocks, tree = [] }) {
    const unnamed = this.edited() || this.source.id.startsWith("file:") || tree.length;
    const link = unnamed ? "" : planText(this.measured, { levels, blocks });
    const plan = { levels, blocks, tree };
    document.dispatchEvent(new CustomEvent("hx:play-simulated", { detail: { question: this.question, plan, link } }));
  }

  /** A link to a simulated run plays it when its profile has been answered for. */
  playLinked() {
    if (this.begun) return;
    this.begun = true;
    if (this.lost) return this.fault(PLANNER.lost(this.lost.slice(0, 80)));
    const text = new URLSearchParams(location.search).get("simulated");
    const plan = text && linkedPlan(this.measured, text);
    if (plan) this.play(plan);
  }
}

/** The figures are made for a phone, a screen or a wall. */
const size = () => (innerWidth < 700 ? "phone" : innerWidth < 1800 ? "screen" : "wall");

/** Kinds by the levels' specs, as the server names them. */
function styled(profile) {
  const top = profile.levels.length - 1;
  return stylesOf(
    profile.levels.map((level, i) => ({
      name: level.name,
      kind: i === top ? "target" : level.spec?.split(/[@:]/)[0] || (level.hit_rate === undefined ? "model" : "ngram"),
    })),
  );
}
