/** The text's panel: its head (title, colour by, copy, save, open), the token text, the legend, progress, the empty
 *  state. */

import { faceButton, h, say } from "../kit/dom.js";
import { copy, saveGzip, traceName } from "../kit/files.js";
import { create as createText } from "./text.js";
import { create as createLegend } from "./token/legend.js";
import { TEXT } from "../../../text/en/text.js";

const SMALL = "smollm2"; // the preset of 135 M parameters

/** @typedef {import("../run/trace.js").TraceModel} TraceModel */
/** @typedef {{settings: Record<string, any>, feed: import("../run/trace.js").Feed, details: HTMLElement, onEdit: (name: string, value: any) => void,
 *    onOpen: (file: File) => void, onTell: (text: string, kind: string) => void, onSelect: (serial: number|null, info: any) => void}} Context
 */

export function textPanel(/** @type {Context} */ ctx) {
  const { settings, feed } = ctx;
  const title = h("h2", TEXT.title);
  const colour = colourSwitch((value) => ctx.onEdit("colour", value));
  const ghosts = h("input", {
    type: "checkbox",
    onchange: () => ctx.onEdit("ghosts", ghosts.checked ? "show" : "hide"),
  });
  const whole = h("input", { type: "checkbox", onchange: () => room.set(whole.checked) });
  const file = h("input.hx-sr", {
    type: "file",
    accept: ".jsonl,.gz,application/gzip,application/json",
    tabindex: "-1",
    "aria-hidden": "true",
    onchange: () => {
      if (file.files?.[0]) ctx.onOpen(file.files[0]);
      file.value = "";
    },
  });
  const opener = faceButton("open", TEXT.openFile, () => file.click());
  opener.classList.add("hx-open-trace");
  const save = async (/** @type {TraceModel} */ _, /** @type {import("../run/events.js").Header} */ header) => {
    const name = traceName(header);
    await saveGzip(feed.lines(), name);
    return TEXT.saved(name);
  };
  const told = async (/** @type {(...run: Parameters<typeof save>) => unknown} */ action, done = "") => {
    const { model } = feed;
    if (!model?.header) return ctx.onTell(TEXT.noRun, "");
    try {
      const said = await action(model, model.header);
      ctx.onTell(said ? String(said) : done, "");
    } catch (/** @type {any} */ error) {
      ctx.onTell(error.message, "error");
    }
  };
  const head = h("header.hx-panel-head", [
    title,
    h("span.hx-above", TEXT.above),
    h("label.hx-tick", { "data-tip": TEXT.ghostsTip }, [ghosts, h("span", TEXT.ghosts)]),
    h("label.hx-tick", { "data-tip": TEXT.wholeTip }, [whole, h("span", TEXT.whole)]),
    ctx.details,
    colour.el,
    faceButton("copy", TEXT.copy, () => told((model) => copy(model.text()), TEXT.copied)),
    faceButton("save", TEXT.save, () => told(save)),
    opener,
    file,
  ]);
  const top = h("div.hx-text-top");
  const body = h("div.hx-text-body");
  const foot = h("footer.hx-text-foot");
  const share = h("i");
  const saying = h("b");
  const detail = h("span");
  const progress = h("div.hx-progress", { hidden: true }, [
    h("div.hx-progress-bar", { "aria-hidden": "true" }, share),
    saying,
    detail,
  ]);
  const blank = h("div.hx-empty", { hidden: true }, [
    h("b", TEXT.nothing),
    h("p", TEXT.nothingYet),
    h("p", TEXT.firstRun),
  ]);
  const circles = h("p.hx-text-circles", { hidden: true });
  const el = h("section.hx-text-panel", { "aria-label": TEXT.label }, [head, top, body, circles, foot, blank]);
  const text = createText(body, { onSelect: ctx.onSelect });
  const legend = createLegend(top, foot);
  top.append(progress); // while a run begins, its progress stands over what the colours mean
  const room = textRoom(el, text.el, whole);
  return {
    el,
    title(/** @type {string} */ name) {
      say(title, name || TEXT.title);
      title.title = title.textContent;
    },
    show() {
      colour.show(settings.colour);
      ghosts.checked = settings.ghosts === "show";
    },
    press: (/** @type {number} */ serial) => text.press(serial),
    update(/** @type {TraceModel} */ model, /** @type {number} */ cursor, /** @type {Record<string, any>} */ opts) {
      blank.hidden = true;
      text.update(model, cursor, opts);
      legend.update(model, cursor, opts);
      const from = model.snapshotAt(cursor)?.repeats_from ?? null;
      const over = model.footer && cursor >= model.end; // before that the text keeps its room
      circles.hidden = !over || from === null || Boolean(model.header?.simulated);
      if (!circles.hidden) say(circles, TEXT.circles(model.header?.preset === SMALL));
      text.settle();
      room.update(model);
    },
    empty() {
      blank.hidden = false;
    },
    progress(/** @type {any} */ status) {
      progress.hidden = !status;
      if (!status) return;
      say(saying, status.text);
      say(detail, status.detail);
      progress.dataset.known = String(Boolean(status.share));
      share.style.width = status.share ? `${100 * status.share}%` : "";
    },
  };
}

// ---- How much of the text is in sight: the panel's head says when the beginning is above it, and the whole text takes the
// tower's place, in two columns; one that is longer than that grows down the page.

const GROWTH = 1.1;

/** @param {HTMLElement} panel
 *  @param {HTMLElement} view what scrolls
 *  @param {HTMLInputElement} tick the switch */
export function textRoom(panel, view, tick) {
  /** @type {TraceModel|null} */ let shown = null;
  const stage = () => /** @type {HTMLElement} */ (panel.closest(".hx-stage"));
  const flow = /** @type {HTMLElement} */ (view.firstElementChild);
  const look = () => {
    // What is said then may give the text another height: it goes only where nothing is scrolled, or it would flicker.
    const least = panel.classList.contains("hx-begun") ? 0 : 12;
    panel.classList.toggle("hx-begun", view.scrollTop > least && !stage().classList.contains("hx-whole"));
  };
  /** Two columns, as high as their text needs; they grow by a part at a time, so that lines seldom change columns. */
  const fit = () => {
    const { classList } = stage();
    if (!classList.contains("hx-whole")) return;
    for (let height = flow.clientHeight; flow.scrollWidth > flow.clientWidth + 1; height *= GROWTH) {
      classList.add("hx-long");
      flow.style.height = `${Math.ceil(height)}px`;
    }
  };
  const loosen = () => {
    stage().classList.remove("hx-long");
    flow.style.height = "";
  };
  const set = (/** @type {boolean} */ on) => {
    tick.checked = on;
    loosen();
    stage().classList.toggle("hx-whole", on);
    fit();
    if (!on) view.scrollTop = view.scrollHeight;
    look();
  };
  view.addEventListener("scroll", look, { passive: true });
  addEventListener("resize", () => set(tick.checked));
  return {
    set,
    update(/** @type {TraceModel} */ model) {
      if (model !== shown) loosen();
      shown = model;
      fit();
      look();
    },
  };
}

// ---- The switch above the text: what a token's colour shows.

/** @param {(value: string) => void} onPick */
export function colourSwitch(onPick) {
  /** @type {Map<string, HTMLInputElement>} */ const inputs = new Map();
  const ways = Object.entries(TEXT.colours).map(([value, text]) => {
    const input = /** @type {HTMLInputElement} */ (
      h("input.hx-sr", { type: "radio", name: "hx-colour", value, onchange: () => onPick(value) })
    );
    inputs.set(value, input);
    return h("label", { "data-tip": TEXT.colourTips[value] }, [input, h("span", text)]);
  });
  return {
    el: h("div.hx-switch-ways", { role: "radiogroup", "aria-label": TEXT.colourBy }, ways),
    /** @param {string} chosen */
    show(chosen) {
      for (const [value, input] of inputs) input.checked = value === chosen;
    },
  };
}
