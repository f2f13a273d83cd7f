/** The Planner tab: whether another level is worth it, and one step behind a profile and what the theory makes of it. `mount` is called once by its
 *  component. */

import { translated } from "../../../text/heard.js";
import { h, tips } from "../../shared/kit/dom.js";
import { learned } from "../../shared/levels/kinds.js";
import { loadStyles } from "../../shared/kit/styles.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { isDark, rememberTheme } from "../../shared/kit/theme.js";
import { anotherLevel } from "./another/another-level.js";
import { Ahead, whoAnswers } from "./ahead/plans-ahead.js";
import { defaultPanel } from "./default-panel.js";
import { later } from "./later.js";
import {
  firstProfile,
  listedProfiles,
  askedOfAnother,
  linkedPlan,
  turnedBy,
  writeLink,
  playPlan,
  still,
  useStack,
} from "./link.js";
import { styled, changed, copy, reset } from "./profile/profile.js";
import { openedProfile, saveProfile, sourceBar } from "./profile/sources.js";
import { look, viewAsked, viewSwitch, watchLook } from "./views.js";
import { PLANNER } from "../../../text/en/planner.js";

/** @import {Look} from "../../shared/levels/kinds.js" @import {Turned} from "./ahead/plans-ahead.js"
 *  @import {Curve} from "./another/answers.js" @import {Question} from "./another/asker.js"
 *  @import {Answer, Plan} from "./answer.js" @import {Profile, Source} from "./profile/profile.js" */

/** @typedef {{props: {setup: string, value: string}, root: string, watch: Function, trigger: any, call: any}} Ports */

/** @type {{agreement: number|null, share: number|null}} */
const OWN = { agreement: null, share: null }; // the profile's own numbers

/** @param {HTMLElement} root @param {Ports} ports */
export async function mount(root, ports) {
  rememberTheme();
  await loadStyles("planner", "doctor");
  const setup = translated(JSON.parse(ports.props.setup));
  await learned;
  const page = new PlannerPage(root.querySelector(".hx-root") ?? root, setup, ports);
  ports.watch("value", () => ports.props.value && page.usual.apply(JSON.parse(ports.props.value)));
  await page.begin();
}

const none = /** @type {any} */ (null); // until a profile is chosen

class PlannerPage {
  constructor(/** @type {Element} */ root, /** @type {any} */ setup, /** @type {Ports} */ ports) {
    const base = ports.root;
    this.base = base;
    this.setup = setup;
    /** @type {[string, string][]} */ this.byLength = []; // presets and devices that have profiles by length
    /** @type {Source} */ this.source = none; // {id, title, kind, note, preset, profiles}
    /** @type {Profile} */ this.measured = none; // the profile as it came
    /** @type {Profile} */ this.profile = none; // as edited
    /** @type {Turned} */ this.turned = none; // the sliders
    /** @type {Source[]} */ this.sources = [];
    /** @type {Map<string, Look>|null} */ this.styles = null; // of levels, by name
    /** @type {Question} */ this.asked = none; // what the plans shown belong to
    this.look = ""; // that figures were asked for
    this.ahead = setup.ahead ? new Ahead(base, setup.ahead) : null; // a page without a server
    const who = whoAnswers(this);
    const onRefusal = (/** @type {string} */ text) => this.fault(text);
    this.asker = who.plans({
      onAnswer: (a, question) => this.heard(a, question),
      onRefusal: (text) => {
        this.fault(text);
        this.experts.tell("draw");
      },
    });
    this.answers = who.another({ onAnswer: (curve, question) => this.answered(curve, question), onRefusal });
    this.bar = sourceBar({
      opens: !this.ahead,
      onSource: (source, at) => this.choose(source, at),
      onFile: (file) => this.open(file),
      onSave: () => saveProfile(this.profile, this.source.preset || "profile"),
    });
    this.note = h("p.hx-plan-fault", { role: "alert", hidden: true });
    this.another = anotherLevel({
      about: () => this.about(),
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
    // The entry that Back came to has the sliders of its time in its address: it names what is shown.
    addEventListener("popstate", () => this.profile && this.link());
    let view = "";
    this.experts = later(
      async () => (await import("./experts.js")).expertsPage(this, who),
      h("section.hx-plan-behind"),
      () => view === "experts",
    );
    const first = h("div.hx-plan-first", [this.another.el, this.usual.el]);
    this.body = h("div", [first, this.experts.el]);
    this.empty = h("section.hx-panel.hx-plan-empty", { hidden: true });
    const url = this.ahead ? null : base + setup.doctor;
    const doctor = later(
      async () => (await import("./doctor/doctor-view.js")).doctorView(url),
      h("section.hx-doc"),
      () => view === "doctor",
    );
    this.load = later(
      async () =>
        (await import("./load-view.js")).loadView({
          asks: (hear) => who.brought("load", hear),
          onUse: (stack) => useStack(stack, this.source.preset),
          onSource: (source) => this.choose(source),
          seen: () => view === "load",
        }),
      h("section.hx-load"),
      () => view === "load",
    );
    const views = viewSwitch((asked) => {
      this.el.dataset.view = view = asked;
      if (asked === "experts") this.experts.wake();
      else setQuery({ data: null });
      if (asked === "doctor") doctor.wake();
      if (asked === "load") this.load.wake();
    });
    this.el = h("div.hx-stage.hx-planner", [
      views.el,
      doctor.el,
      this.bar.el,
      this.note,
      this.load.el,
      this.empty,
      this.body,
    ]);
    views.show(viewAsked());
    root.replaceChildren(this.el);
    tips(this.el);
    watchLook(
      () => (this.profile ? this.look : null),
      () => this.ask(),
    );
  }

  /** Whose numbers are shown. */
  about() {
    return { temperature: this.profile?.temperature ?? 0, ...this.profile?.about };
  }

  /** The profiles that there are; the best one is shown. */
  async begin() {
    const found = await listedProfiles(this.base + this.setup.sources);
    this.fault(found.fault);
    this.sources = found.sources;
    this.byLength = found.by_length ?? [];
    this.bar.list(found.sources);
    const { source, at, lost, instead } = firstProfile(found.sources);
    this.lost = lost;
    this.instead = instead;
    if (source) this.choose(source, at, turnedBy, askedOfAnother());
    else {
      this.body.hidden = true;
      this.empty.hidden = false;
      this.empty.replaceChildren(...noProfile(found));
    }
  }

  /** @param {Function} turn where the sliders begin: at rest, or as the address says @param {Source} source */
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
    const list = this.profile.levels.map((level) => /** @type {Look} */ (styles.get(level.name)));
    this.experts.tell("of", list, this.byLength);
    this.bar.edited(this.edited());
  }

  /** Numbers of the tables are as they were measured again. @param {string} part */
  reset(part) {
    reset(this.profile, this.measured, part);
    this.showProfile();
    this.ask();
  }

  edited() {
    return changed(this.profile, this.measured);
  }

  ask() {
    this.look = look();
    this.link();
    const asked = { profile: this.profile, source: this.source.id, ...this.turned };
    this.asker.ask({ ...asked, dark: isDark(), width: Math.max(1, innerWidth), figures: [] });
    this.experts.tell("stale", asked);
    this.load.tell("stale", asked, this.source, this.sources);
    this.another.stale();
    this.askAnother(null); // the profile's own point comes first
  }

  /** @param {number|null} agreement */
  askAnother(agreement) {
    this.answers.ask({ profile: this.profile, source: this.source.id, ...this.turned, agreement });
  }

  answered(/** @type {Curve} */ curve, /** @type {Question} */ { profile, agreement }) {
    if (profile !== this.profile) return; // another one was chosen meanwhile
    this.another.show(curve, agreement ?? null);
    this.el.dataset.ready = "true"; // what is drawn from here on stays where it is
    const next = this.another.wants();
    if (next !== undefined) this.askAnother(next);
  }

  link() {
    writeLink(this.sources, this.source, this.measured, this.turned, this.another.at());
  }

  heard(/** @type {Answer} */ answer, /** @type {Question} */ question) {
    this.asked = question;
    this.fault("");
    this.styles ??= styled(this.profile);
    this.another.measured(answer.beside);
    this.playLinked();
    this.experts.tell("heard", answer, question, this.styles, this.asker);
  }

  /** This machine was measured: its profile can be chosen, and the Explore tab is told. @param {string} preset */
  async quicklyMeasured(preset) {
    document.dispatchEvent(new CustomEvent("hx:measured"));
    const found = await listedProfiles(this.base + this.setup.sources);
    const one = found.sources.find((source) => source.id === `quick:${preset}`);
    if (!one) return;
    this.sources = [...this.sources.filter((source) => source.id !== one.id), one];
    this.bar.add(one);
    if (!this.source || this.source.id === one.id) this.choose(one, 0);
    else this.bar.show(this.source, this.source.profiles.indexOf(this.measured));
  }

  fault(/** @type {string} */ text) {
    if (text) this.el.dataset.ready = "true";
    this.note.textContent = text;
    this.note.hidden = !text;
  }

  async open(/** @type {File} */ file) {
    const { source, fault } = await openedProfile(file, this.base + this.setup.answer);
    if (!source) return this.fault(fault);
    this.bar.add(source);
    return this.choose(source, 0);
  }

  /** On the Explore tab's stage, without weights. @param {Pick<Plan, "levels"|"blocks">} plan */
  play(plan) {
    const named = !this.edited() && !this.source.id.startsWith("file:");
    playPlan(this.asked, plan, { measured: this.measured, named });
  }

  /** A link to a simulated run plays it when its profile has been answered for. */
  playLinked() {
    if (this.begun) return;
    this.begun = true;
    if (this.lost) return this.fault(this.lost);
    if (this.instead) this.fault(this.instead);
    const text = new URLSearchParams(location.search).get("simulated");
    const plan = text && linkedPlan(this.measured, text);
    if (plan) this.play(plan);
  }
}

// No profile at all: how to get one.

/** @param {{sources: Source[], how: string}} found */
export function noProfile({ sources, how }) {
  const broken = sources
    .filter((source) => source.reason)
    .map((source) => h("p.hx-plan-text", `${source.title}: ${source.reason}`));
  return [
    h("h2.hx-plan-h", PLANNER.noProfile),
    h("p", PLANNER.whatProfile),
    h("p", [PLANNER.measureOne[0], h("code", how), PLANNER.measureOne[1]]),
    ...broken,
  ];
}
