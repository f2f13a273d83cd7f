/** The experts' page of the Planner: the plans of all levels, why they are best, and every number that they are made of.
 *  Fetched when it is opened. */

import { disclosure, h } from "../../shared/kit/dom.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { bringLater, brought } from "../../systems/index.js";
import { BEHIND } from "../../../text/en/experts.js";
import { AHEAD, VIEWS } from "../../../text/en/planner.js";
import { answerPanel } from "./answer.js";
import { later } from "./later.js";
import { openedBy, useStack } from "./link.js";
import { PlanFigures } from "./plan-figures.js";
import { hasLengths } from "./profile/profile.js";
import { whatIf } from "./whatif.js";

/** @import {Look} from "../../shared/levels/kinds.js" @import {Question} from "./another/asker.js"
 *  @import {Ahead} from "./ahead/plans-ahead.js" @import {Answer, Plan, Styles} from "./answer.js"
 *  @import {Profile, Source} from "./profile/profile.js" @import {Turned} from "./ahead/plans-ahead.js" */

/** The Planner (planner.js), as far as this page needs it.
 *  @typedef {{base: string, setup: any, ahead: Ahead|null, source: Source, measured: Profile, profile: Profile, turned: Turned,
 *    bar: {choose: HTMLElement, edited: (is: boolean) => void}, about: () => any, ask: () => void, edited: () => boolean,
 *    choose: (source: Source, at: number) => void, play: (plan: Plan) => void, reset: (part: string) => void,
 *    fault: (text: string) => void}} PlannerPage */

/** @param {PlannerPage} page @param {ReturnType<typeof import("./ahead/plans-ahead.js").whoAnswers>} who */
export async function expertsPage(page, who) {
  await bringLater("planner");
  const { base, setup, ahead } = page;
  const figures = new PlanFigures(base + setup.plotly, who.plans, (text) => page.fault(text));
  const asked = brought.questions.map((one) => question(one, page, who));
  const lengths = later(async () => (await import("./text-lengths.js")).textLengths(base + setup.lengths));
  const what = whatIf({
    limits: setup.limits,
    onTurn: () => page.ask(),
    onRest: () => page.choose(page.source, page.source.profiles.indexOf(page.measured)),
  });
  const answer = answerPanel({
    about: () => page.about(),
    plays: !ahead,
    onUse: (plan) => plan.runs && useStack(plan.stack, page.source.preset),
    onPlay: (plan) => page.play(plan),
  });
  const changes = {
    fixed: Boolean(ahead),
    onEdit: () => {
      page.bar.edited(page.edited());
      page.ask();
    },
    onReset: (/** @type {string} */ part) => page.reset(part),
  };
  const tables = later(async () => (await import("./profile/tables.js")).profileTables(changes));
  const { graph, surface, validation } = figures.plots;
  const parts = {
    plans: [answer.el],
    ...Object.fromEntries(asked.map(({ name, part }) => [name, [part.el]])),
    lengths: [lengths.el],
    figures: [graph.el, surface.el],
    validation: [validation.el],
    whatif: [what.el],
    tables: [tables.el],
    profile: [page.bar.choose],
  };
  const titles = Object.fromEntries(brought.questions.map((one) => [one.name, one.behind]));
  const { el, all } = behind(parts, titles, Boolean(ahead), opened);

  /** What was out of sight is to be drawn. */
  function opened() {
    figures.draw();
    for (const { part } of asked) part.wake();
    lengths.wake();
    tables.wake();
  }

  return {
    el,
    /** It is shown: what is open on it stands in the address. */
    wake() {
      told(all);
      opened();
    },
    /** The profile, or what is turned of it, has changed. @param {Look[]} styles by level @param {[string, string][]} byLength presets and devices */
    of(styles, byLength) {
      const { profile, measured, turned, source } = page;
      tables.tell("show", profile, measured, styles);
      what.show(profile, turned, styles, ahead?.place(source.id, profile)?.stops);
      const place = { preset: source.preset, device: profile.about?.device ?? "" };
      const around = lengths.el.closest("details");
      if (around) around.hidden = !hasLengths(place, byLength);
      lengths.tell("of", place, byLength);
    },
    /** Plans are asked for. @param {Question} question */
    stale(question) {
      for (const { part } of asked) part.stale(question);
    },
    /** They have come, and belong to this question. @param {Answer} found @param {Question} question @param {Styles} styles
     *  @param {{wanted: unknown, busy: boolean}} asker where the next ones may wait */
    heard(found, question, styles, asker) {
      answer.show(found, styles);
      figures.follow(question, asker);
    },
    /** What was out of date can be drawn. */
    draw: () => figures.draw(),
  };
}

/** A question that a system brings. @param {import("../../systems/index.js").Question} one @param {PlannerPage} page
 *  @param {ReturnType<typeof import("./ahead/plans-ahead.js").whoAnswers>} who */
function question({ name, create }, page, who) {
  const asker = who.brought(name, {
    onAnswer: (/** @type {any} */ a, /** @type {any} */ { profile }) => profile === page.profile && part.show(a),
    onRefusal: (/** @type {string} */ text) => part.refuse(text),
  });
  const part = create({
    onAsk: (asked) => asker.ask(asked),
    onUse: (stack) => useStack(stack, page.source.preset),
  });
  return { name, part };
}

/** @param {Record<string, Node[]>} parts by name, in their order
 *  @param {Record<string, [string, string]>} named of those that systems bring: a title, and what is inside
 *  @param {boolean} ahead their answers were worked out ahead
 *  @param {() => void} onOpen one was opened */
function behind(parts, named, ahead, onOpen) {
  const asked = openedBy();
  const all = Object.entries(parts).map(([name, inside]) => {
    const [title, about] = (ahead && AHEAD.behind[name]) || BEHIND[name] || named[name];
    if (ahead && AHEAD.notes[name]) inside.unshift(h("p.hx-plan-text", withCode(AHEAD.notes[name])));
    const el = disclosure(name, title, inside, { about, onOpen });
    el.open = asked.has(name);
    el.addEventListener("toggle", () => told(all));
    return el;
  });
  const lead = h("p.hx-plan-text", VIEWS.expertsLead);
  return { el: h("section.hx-plan-behind", { "aria-label": VIEWS.experts }, [lead, all]), all };
}

/** @param {HTMLDetailsElement[]} all */
function told(all) {
  const open = all.filter((el) => el.open).map((el) => el.dataset.more);
  setQuery({ data: open.length ? open.join(",") : null });
}

/** A sentence with its command as code. @param {[string, string]} around */
const withCode = ([before, after]) => [before, h("code", AHEAD.start), after];
