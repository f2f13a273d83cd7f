/** The Planner tab: whether another level is worth it, and one step behind a profile and what the theory makes of it. `mount` is called once by its
 *  component. */

import { h, tips } from "../kit/dom.js";
import { learn } from "../levels/kinds.js";
import { loadStyles } from "../kit/styles.js";
import { isDark, rememberTheme } from "../kit/theme.js";
import { answerPanel } from "./answer.js";
import { stylesOf } from "../levels/badge.js";
import { anotherLevel } from "./another/another-level.js";
import { askedOfServer, madeAhead } from "./another/answers.js";
import { Asker } from "./another/asker.js";
import { Ahead, AskerAhead } from "./ahead/plans-ahead.js";
import { behind } from "./behind.js";
import { defaultPanel } from "./default-panel.js";
import { askedOfAnother, linked, linkedPlan, planText, turnedBy, usual, writeLink } from "./link.js";
import { noProfile } from "./no-profile.js";
import { PlanFigures } from "./plan-figures.js";
import { copy, reset, same } from "./profile/profile.js";
import { openedProfile, saveProfile } from "./profile/profile-file.js";
import { sourceBar } from "./profile/sources.js";
import { profileTables } from "./profile/tables.js";
import { still, whatIf } from "./whatif.js";
import { ANOTHER } from "../words/tabs/another.js";
import { PLANNER } from "../words/tabs/planner.js";

const SETTLE_MS = 250; // a window that is being dragged is not asked about

/** @type {{agreement: number|null, share: number|null}} */
const OWN = { agreement: null, share: null }; // the profile's own numbers

/** @param {HTMLElement} root @param {{props: {setup: string, value: string}, root: string, watch: Function, trigger: any, call: any}} ports */
export async function mount(root, ports) {
  rememberTheme();
  await loadStyles("planner");
  const setup = JSON.parse(ports.props.setup);
  learn(setup.grammar);
  const page = new PlannerPage(root.querySelector(".hx-root") ?? root, setup, ports);
  ports.watch("value", () => ports.props.value && page.usual.apply(JSON.parse(ports.props.value)));
  await page.begin();
}

class PlannerPage {
  constructor(root, setup, ports) {
    const base = ports.root;
    this.base = base;
    this.setup = setup;
    this.source = null; // {id, title, kind, note, preset, profiles}
    this.measured = null; // the profile as it came
    this.profile = null; // as edited
    this.turned = null; // the sliders
    this.ahead = setup.ahead ? new Ahead(base, setup.ahead) : null; // a page without a server
    const asker = (hear) => (this.ahead ? new AskerAhead(this.ahead, hear) : new Asker(base + setup.answer, hear));
    this.asker = asker({
      onAnswer: (a, question) => this.heard(a, question),
      onRefusal: (text) => {
        this.fault(text);
        this.figures.draw();
      },
    });
    const hear = {
      onAnswer: (curve, question) => this.answered(curve, question),
      onRefusal: (text) => this.fault(text),
    };
    const { ahead } = this;
    this.answers = ahead
      ? madeAhead((question) => ahead.curves(question), hear, ANOTHER.noGrid)
      : askedOfServer(base + setup.another, hear);
    this.figures = new PlanFigures(base + setup.plotly, asker, (text) => this.fault(text));
    this.bar = sourceBar({
      opens: !this.ahead,
      onSource: (source, at) => this.choose(source, at),
      onFile: (file) => this.open(file),
      onSave: () => saveProfile(this.profile, this.source.preset || "profile"),
    });
    this.note = h("p", { class: "hx-plan-fault", role: "alert", hidden: true });
    this.another = anotherLevel({
      onTurn: ({ agreement }) => {
        this.link();
        this.askAnother(agreement);
      },
      onUse: (stack) => useStack(stack, this.source.preset),
    });
    this.usual = defaultPanel({
      presets: setup.presets,
      ports,
      onUse: useStack,
      onMeasured: (preset) => this.quicklyMeasured(preset),
    });
    this.what = whatIf({
      limits: setup.limits,
      onTurn: () => this.ask(),
      onRest: () => this.choose(this.source, this.source.profiles.indexOf(this.measured)),
    });
    // The entry that Back came to has the sliders of its time in its address: it names what is shown.
    addEventListener("popstate", () => this.profile && this.link());
    this.answer = answerPanel({
      plays: !this.ahead,
      onUse: (plan) => this.use(plan),
      onPlay: (plan) => this.play(plan),
    });
    this.tables = profileTables({
      fixed: Boolean(this.ahead),
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
    this.body = h(
      "div",
      { class: "hx-plan-first" },
      this.another.el,
      this.usual.el,
      behind(this.details(), Boolean(this.ahead), () => this.figures.draw()),
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

  /** What stands behind the first question, by the name of its disclosure. */
  details() {
    const { graph, surface, validation } = this.figures.plots;
    return {
      plans: [h("div", { class: "hx-plan-answer" }, ...this.answer.el)],
      figures: [graph.el, surface.el],
      validation: [validation.el],
      whatif: [this.what.el],
      tables: [this.tables.el],
      profile: [this.bar.choose],
    };
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
    const query = new URLSearchParams(location.search);
    this.lost = asked ? null : query.get("profile"); // a link from another machine
    const [source, at] = asked ?? [usual(found.sources), 0];
    const preset = asked ? null : query.get("preset");
    this.unlike = preset && source && source.preset !== preset ? PLANNER.noneOf(preset.slice(0, 80), source.title) : "";
    if (source) this.choose(source, at, turnedBy, askedOfAnother());
    else {
      this.body.hidden = true;
      this.empty.hidden = false;
      this.empty.replaceChildren(...noProfile(found));
    }
  }

  /** @param {Function} turn where the sliders begin: at rest, or as the address says */
  choose(source, at = 0, turn = still, asked = OWN) {
    this.source = source;
    this.measured = source.profiles[at];
    this.profile = copy(this.measured);
    this.turned = turn(this.profile, this.setup.limits);
    this.body.hidden = false;
    this.empty.hidden = true;
    this.styles = null;
    this.bar.show(source, at);
    this.another.begin(asked, source.kind);
    this.usual.show(source.preset);
    this.showProfile();
    this.ask();
  }

  showProfile() {
    const styles = this.styles ?? styled(this.profile);
    const list = this.profile.levels.map((level) => styles.get(level.name));
    this.tables.show(this.profile, this.measured, list);
    this.what.show(this.profile, this.turned, list, this.ahead?.place(this.source.id, this.profile)?.stops);
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
    this.another.stale();
    this.askAnother(null); // the profile's own point comes first
  }

  /** @param {number|null} agreement */
  askAnother(agreement) {
    this.answers.ask({ profile: this.profile, source: this.source.id, ...this.turned, agreement });
  }

  answered(curve, { profile, agreement }) {
    if (profile !== this.profile) return; // another one was chosen meanwhile
    this.another.show(curve, agreement);
    this.el.dataset.ready = "true"; // what is drawn from here on stays where it is
    const next = this.another.wants();
    if (next !== undefined) this.askAnother(next);
  }

  link() {
    writeLink(this.sources, this.source, this.measured, this.turned, this.another.at());
  }

  heard(answer, question) {
    this.question = question; // what its plans belong to
    this.fault("");
    this.styles ??= styled(this.profile);
    this.answer.show(answer, this.styles);
    this.playLinked();
    this.figures.follow(question, this.asker);
  }

  /** This machine was measured: its profile can be chosen, and the Explore tab is told. @param {string} preset */
  async quicklyMeasured(preset) {
    document.dispatchEvent(new CustomEvent("hx:measured"));
    const reply = await fetch(this.base + this.setup.sources).catch(() => null);
    /** @type {any[]} */ const found = reply?.ok ? (await reply.json()).sources : [];
    const one = found.find((source) => source.id === `quick:${preset}`);
    if (!one) return;
    this.sources = [...(this.sources ?? []).filter((source) => source.id !== one.id), one];
    this.bar.add(one);
    if (!this.source || this.source.id === one.id) this.choose(one, 0);
    else this.bar.show(this.source, this.source.profiles.indexOf(this.measured));
  }

  fault(text) {
    if (text) this.el.dataset.ready = "true";
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
    if (plan.runs) useStack(plan.stack, this.source.preset);
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
    if (this.unlike) this.fault(this.unlike);
    const text = new URLSearchParams(location.search).get("simulated");
    const plan = text && linkedPlan(this.measured, text);
    if (plan) this.play(plan);
  }
}

const useStack = (/** @type {string} */ stack, /** @type {string} */ preset) =>
  document.dispatchEvent(new CustomEvent("hx:use-stack", { detail: { stack, preset } }));

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
