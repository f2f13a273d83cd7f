/** The bar that drives a Player: start, a round back, play, a round on, end, a slider over the run, the speed.
 *  While it has focus: Space plays, arrows step a round (with Shift an event), Home and End go to the ends. */

import { SPEEDS } from "./player.js";
import { roundNumber } from "../kit/round-number.js";
import { duration, local } from "../../../text/numbers.js";
import { closest, element, h, say } from "../kit/dom.js";
import { TRANSPORT } from "../../../text/en/player.js";

/** @import {TraceModel} from "../run/trace.js" @import {Player} from "./player.js" */

const ICONS = {
  start: "M4 4v12M16 4L7 10l9 6z",
  back: "M14 4L6 10l8 6z",
  play: "M6 3.5v13l11-6.5z",
  pause: "M6 4v12M13.5 4v12",
  on: "M6 4l8 6-8 6z",
  end: "M16 4v12M4 4l9 6-9 6z",
};
/** @typedef {{end: number, header?: unknown, footer?: unknown}} Timed */
const NS = "http://www.w3.org/2000/svg";

/** update(model, cursor, {pause}) redraws what changed.
 *   @param {HTMLElement} host
 *   @param {{player: Player, onPause?: (on: boolean) => void, label?: string, words?: (model: any, cursor: number) => string}} ctx
 *     onPause: of the switch of the pause at rejections, which stands there if it is given; words: what the clock says */
export function create(host, { player, onPause, label = TRANSPORT.label, words = roundText }) {
  const el = host.appendChild(element("div", "hx-transport"));
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", label);
  /** @param {keyof typeof ICONS} icon @param {string} label @param {() => void} f */
  const press = (icon, label, f) => el.appendChild(button(icon, label, f));
  press("start", TRANSPORT.start, () => player.seek(0));
  press("back", TRANSPORT.back, () => player.step(-1));
  const play = press("play", TRANSPORT.play, () => player.toggle());
  play.classList.add("hx-transport-play");
  press("on", TRANSPORT.on, () => player.step(1));
  press("end", TRANSPORT.end, () => player.seek(player.end));
  const slider = el.appendChild(element("input", "hx-transport-slider"));
  Object.assign(slider, { type: "range", min: 0, max: 1000, step: 1, value: 0 });
  slider.setAttribute("aria-label", TRANSPORT.moment);
  slider.addEventListener("input", () => player.seek((Number(slider.value) / 1000) * player.end));
  const clock = el.appendChild(element("output", "hx-transport-clock"));
  const speed = el.appendChild(speeds(player));
  const pause = onPause && el.appendChild(pauses(onPause));
  const live = el.appendChild(element("button", "hx-transport-live", TRANSPORT.live));
  live.type = "button";
  live.title = TRANSPORT.follow;
  live.addEventListener("click", () => player.follow());
  el.addEventListener("keydown", (event) => handleKey(event, player));
  return {
    el,
    update(/** @type {Timed|null} */ model, /** @type {number} */ cursor, /** @type {{pause?: boolean}} */ opts) {
      const running = !!model?.header && !model.footer;
      const share = model?.end ? Math.round((cursor / model.end) * 1000) : 0;
      if (Number(slider.value) !== share) slider.value = String(share);
      slider.style.setProperty("--share", String(share / 1000));
      say(clock, words(model, cursor));
      slider.setAttribute("aria-valuetext", clock.textContent);
      icon(play, player.playing ? "pause" : "play", player.playing ? TRANSPORT.halt : TRANSPORT.play);
      pause?.setAttribute("aria-pressed", String(opts.pause));
      live.hidden = !running;
      live.setAttribute("aria-pressed", String(player.following));
      if (Number(speed.value) !== player.speed) speed.value = String(player.speed);
    },
    destroy() {
      el.remove();
    },
  };
}

function roundText(/** @type {TraceModel|null} */ model, /** @type {number} */ cursor) {
  const round = model ? roundNumber(model.roundAt(cursor)) : 0;
  const time = duration(cursor);
  const over = model?.footer && cursor >= model.end;
  return TRANSPORT.round(round, model?.rounds.length ?? 0, over ? TRANSPORT.whole(time) : time);
}

/** @type {Record<string, 1|-1>} */ const KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/** The player's keys, for any element that wants them. Returns whether the key was one.
 *  @param {KeyboardEvent} event @param {Player} player */
function handleKey(event, player) {
  if (event.altKey || event.ctrlKey || event.metaKey || closest(event, "select")) return false;
  const direction = KEYS[event.key];
  if (direction && event.shiftKey) player.stepEvent(direction);
  else if (direction) player.step(direction);
  else if (event.key === "Home") player.seek(0);
  else if (event.key === "End") player.seek(player.end);
  else if (event.key === " " && !(event.target instanceof HTMLButtonElement)) player.toggle();
  else return false;
  event.preventDefault();
  return true;
}

function pauses(/** @type {(on: boolean) => void} */ onPause) {
  const node = h("button.hx-transport-pauses", {
    ...{ title: TRANSPORT.pauseTip, "aria-label": TRANSPORT.pauseName, text: TRANSPORT.pause },
    onclick: () => onPause(node.getAttribute("aria-pressed") !== "true"),
  });
  return node;
}

function speeds(/** @type {Player} */ player) {
  const onchange = () => (player.speed = Number(select.value));
  const named = { "aria-label": TRANSPORT.speed, title: TRANSPORT.speedTip };
  const select = h("select.hx-transport-speed", { ...named, onchange }, [
    SPEEDS.map((x) => h("option", { value: String(x), text: x === 1 ? TRANSPORT.real : `${local(String(x))}\u00d7` })),
  ]);
  select.value = "1";
  return select;
}

function button(/** @type {keyof typeof ICONS} */ name, /** @type {string} */ label, /** @type {() => void} */ f) {
  const node = element("button", "hx-transport-button");
  node.type = "button";
  const picture = document.createElementNS(NS, "svg");
  for (const [key, value] of [
    ["viewBox", "0 0 20 20"],
    ["aria-hidden", "true"],
  ])
    picture.setAttribute(key, value);
  picture.append(document.createElementNS(NS, "path"));
  node.append(picture);
  icon(node, name, label);
  node.addEventListener("click", f);
  return node;
}

function icon(/** @type {HTMLElement} */ node, /** @type {keyof typeof ICONS} */ name, /** @type {string} */ label) {
  if (node.dataset.icon === name) return;
  node.dataset.icon = name;
  node.title = label;
  node.setAttribute("aria-label", label);
  node.querySelector("path")?.setAttribute("d", ICONS[name]);
}
