/** The parts of the first screen, each with what a visitor does in it. */

import { createCaption } from "./caption-view.js";
import { create as createCard } from "./card.js";
import { noPromptRow, promptRow } from "./controls.js";
import { createDesk } from "./desk.js";
import { h } from "./dom.js";
import { RECORDED } from "./journey.js";
import { create as createLanes } from "./lanes.js";
import { createNote } from "./note.js";
import { otherPrompt } from "./other-prompt.js";
import { wholePage } from "./share/embed.js";
import { shareButton } from "./share/share.js";
import { tallyLine } from "./tally-line.js";
import { textPanel } from "./text-panel.js";
import { toggleTheme } from "./theme.js";
import { titleBar } from "./title.js";
import { createTower } from "./tower.js";
import { create as createTransport } from "./transport.js";
import { STAGE } from "./words/run.js";

/** Makes them and puts them into the page; `el` holds them all. @param {import("./stage.js").Stage} stage */
export function furnish(stage) {
  const title = titleBar({
    why: stage.setup.why,
    share: stage.setup.offline ? null : shareButton(stage),
    onTheme: () => {
      toggleTheme();
      stage.study.draw();
    },
  });
  const prompt = (stage.setup.offline ? noPromptRow : promptRow)({
    setup: stage.setup,
    settings: stage.settings,
    onEdit: (name, value) => stage.edit(name, value),
    onGo: () => stage.go(),
    onExample: (e) => {
      stage.edit("prompt", e.prompt);
      prompt.show();
    },
    shown: () => stage.feed.run,
    onRecording: (name) =>
      stage.attempt(async () => {
        await stage.session.recording(name);
        if (stage.feed.run === RECORDED + name) stage.edit("recording", name);
      }),
  });
  const text = textPanel({
    settings: stage.settings,
    feed: stage.feed,
    onEdit: (name, value) => stage.edit(name, value),
    onSelect: (serial, info) => {
      card.select(serial, info);
      stage.view.selected = serial;
      stage.drawing.now();
    },
    onOpen: (file) => stage.open(file),
    onTell: (text, kind) => stage.tell(text, kind),
  });
  const tower = createTower(h("div"), {
    presets: stage.setup.catalogue.map((p) => p.name),
    fixed: Boolean(stage.setup.offline),
    replans: () => Boolean(stage.settings.replan),
    ready: () => !stage.session.pending && !stage.wish.whyNot(),
    settings: () => stage.settings,
    onChange: (stack, replan = stage.settings.replan) => {
      stage.settings.replan = replan;
      stage.edit("stack", stack);
    },
  });
  const tally = tallyLine({
    onDepths: () => stage.study.show("#figure-depths-panel"),
    onTell: (text) => stage.tell(text),
  });
  const caption = createCaption({ player: stage.player, live: () => stage.live() });
  text.el.querySelector(".hx-text-foot")?.before(caption.el);
  const note = createNote();
  const other = otherPrompt();
  text.el.querySelector("h2")?.after(other.el);
  title.el.querySelector(".hx-status")?.before(stage.journey.aside.el);
  const clock = h("section", { class: "hx-clock", "aria-label": STAGE.lanes });
  const el = h(
    "div",
    { class: "hx-stage" },
    title.el,
    prompt.el,
    h("div", { class: "hx-main" }, text.el, tower.el),
    clock,
    note.el,
  );
  stage.root.replaceChildren(el);
  const lanes = createLanes(clock, {
    onSeek: (ns) => stage.player.seek(ns),
    onRound: (round) => {
      stage.view.round = round;
      stage.drawing.now();
    },
  });
  const transport = createTransport(clock, { player: stage.player, onPause: (on) => stage.edit("pause", on) });
  clock.append(tally.el);
  const card = createCard(el, {
    onSelect: (serial) => {
      stage.view.selected = serial;
      stage.drawing.now();
    },
  });
  const desk = createDesk(el, {
    player: stage.player,
    clock,
    transport: transport.el,
    badge: title.el.querySelector(".hx-status"),
    onDraw: () => stage.drawing.now(),
    selected: () => stage.view.selected,
  });
  if ("embed" in document.documentElement.dataset) text.el.querySelector(".hx-panel-head")?.append(wholePage());
  return { el, title, prompt, text, tower, tally, caption, note, other, lanes, transport, card, desk };
}
