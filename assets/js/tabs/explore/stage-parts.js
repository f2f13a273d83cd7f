/** The parts of the first screen, each with what a visitor does in it. */

import { createCaption } from "../../shared/caption/caption-view.js";
import { create as createCard } from "../../shared/text/card/card.js";
import { noPromptRow, otherPrompt, promptRow } from "./controls/controls.js";
import { liveCharts } from "./charts/live-charts.js";
import { createDesk } from "./desk.js";
import { h } from "../../shared/kit/dom.js";
import { create as createLanes } from "../../shared/lanes/lanes.js";
import { createNote } from "../../shared/kit/note.js";
import { wholePage, shareButton } from "../../shared/share/share.js";
import { Panels } from "../../shared/visit/panels.js";
import { tallyLine } from "../../shared/lanes/tally-line.js";
import { textPanel } from "../../shared/text/text-panel.js";
import { toggleTheme } from "../../shared/kit/theme.js";
import { titleBar } from "./title/title.js";
import { createTower } from "./tower/tower.js";
import { create as createTransport } from "../../shared/player/transport.js";
import { CHARTS } from "../../../text/en/charts.js";
import { PANEL } from "../../../text/en/panels.js";
import { STAGE } from "../../../text/en/run.js";

/** @import {Player} from "../../shared/player/player.js" @import {Feed} from "../../shared/run/trace.js"
 *  @import {Acts} from "./acts.js" @import {View} from "./drawing.js" */

/** What the parts show of the first screen, and what they ask of it.
 *  @typedef {{
 *    root: HTMLElement, setup: Record<string, any>, settings: Record<string, any>, aside: HTMLElement,
 *    feed: Feed, player: Player, view: View,
 *    live: () => {run: boolean, status: any}, ready: () => boolean, busy: () => void,
 *    edit: (name: string, value: any) => void, acts: Acts,
 *    longText: (name: string, use: (text: string) => void) => Promise<void>,
 *    tell: (text: string, kind?: string) => void, draw: () => void,
 *    figures: {draw: () => void, show: (selector: string) => void}}} Ports
 *    aside: the way back to another run; live: whether the run that is shown is being written, and what the server says of
 *    it; ready: whether what is composed can be run now; busy: says so again; longText: fetches a long prompt; figures: those below the fold */

/** Makes the parts and puts them into the page; `el` holds them all. @param {Ports} ports */
export function furnish(ports) {
  const { root, setup, settings, feed, player, view, edit, acts, tell, draw, figures } = ports;
  const panels = new Panels();
  const select = (/** @type {number|null} */ serial) => {
    view.selected = serial;
    draw();
  };
  const title = titleBar({
    why: setup.why,
    story: Boolean(setup.story),
    share: setup.offline ? null : shareButton({ feed, player, settings, view, alone: Boolean(setup.static) }),
    more: panels.button("controls", PANEL.controls, PANEL.controlsTip),
    onTheme: () => {
      toggleTheme();
      figures.draw();
    },
  });
  const prompt = (setup.offline ? noPromptRow : promptRow)({
    setup,
    settings,
    onEdit: edit,
    onGo: () => acts.go(),
    onTell: tell,
    onExample: (e) => {
      edit("prompt", e.prompt);
      prompt.show();
    },
    onTry: (e) => {
      edit("prompt", e.prompt);
      prompt.show();
      if (ports.ready()) acts.go();
    },
    onLongText: (/** @type {string} */ name) =>
      ports.longText(name, (/** @type {string} */ found) => {
        edit("prompt", found);
        prompt.show();
      }),
    shown: () => feed.run,
    onRecording: (/** @type {string} */ name) => acts.record(name),
  });
  const text = textPanel({
    settings,
    details: panels.button("details", PANEL.details, PANEL.detailsTip),
    feed,
    onEdit: edit,
    onSelect: (serial, info) => {
      card.select(serial, info);
      select(serial);
    },
    onOpen: (/** @type {File} */ file) => acts.open(file),
    onTell: tell,
  });
  const tower = createTower(h("div"), {
    presets: setup.catalogue.map((/** @type {{name: string}} */ p) => p.name),
    panels,
    fixed: Boolean(setup.offline),
    replans: () => Boolean(settings.replan),
    ready: ports.ready,
    onJudged: ports.busy,
    onTell: tell,
    settings: () => settings,
    onChange: (stack, replan = settings.replan) => {
      settings.replan = replan;
      edit("stack", stack);
    },
  });
  const charts = liveCharts(panels.button("charts", CHARTS.title, CHARTS.tip));
  tower.el.querySelector(".hx-tower-body")?.after(charts.el);
  const tally = tallyLine({
    onDepths: () => figures.show("#figure-depths-panel"),
    onTell: tell,
  });
  const caption = createCaption({ player, live: ports.live });
  const transport = createTransport(h("div"), { player, onPause: (on) => edit("pause", on) });
  text.el.querySelector(".hx-text-foot")?.before(caption.el, transport.el);
  const note = createNote();
  const other = otherPrompt();
  text.el.querySelector("h2")?.after(other.el);
  title.el.querySelector(".hx-status")?.before(ports.aside);
  const head = h("div.hx-clock-head", [panels.button("time", PANEL.time, PANEL.timeTip), tally.el, h("div.hx-closer")]);
  const clock = h("section.hx-clock", { "aria-label": STAGE.lanes }, head);
  const el = h("div.hx-stage", [title.el, prompt.el, h("div.hx-main", [text.el, tower.el]), clock, note.el]);
  root.replaceChildren(el);
  const lanes = createLanes(clock, {
    onSeek: (ns) => player.seek(ns),
    onRound: (round) => {
      view.round = round;
      draw();
    },
  });
  const card = createCard(el, { onSelect: select });
  const desk = createDesk(el, {
    player,
    clock,
    closer: /** @type {HTMLElement} */ (head.lastElementChild),
    onDraw: draw,
    selected: () => view.selected,
  });
  if ("embed" in document.documentElement.dataset) text.el.querySelector(".hx-panel-head")?.append(wholePage());
  panels.attach(el);
  return { el, panels, title, prompt, text, tower, charts, tally, caption, note, other, lanes, transport, card, desk };
}
