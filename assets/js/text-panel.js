/** The text's panel: its head (title, colour by, copy, save, open), the token text, the legend, progress, the empty
 *  state. */

import { h, icon, say } from "./dom.js";
import { copy, saveGzip, traceName } from "./files.js";
import { create as createLegend } from "./legend.js";
import { create as createText } from "./text.js";
import { textRoom } from "./text-room.js";

const COLOURS = [
  ["level", "supplied by"],
  ["passed", "accepted by"],
  ["source", "database or depth"],
  ["time", "time"],
];

export function textPanel(ctx) {
  const { settings, feed } = ctx;
  const title = h("h2", { text: "The text" });
  const colour = h(
    "select",
    {
      class: "hx-select",
      "aria-label": "colour by",
      "data-tip": "what a token's colour says",
      onchange: () => ctx.onEdit("colour", colour.value),
    },
    ...COLOURS.map(([value, text]) => h("option", { value, text: `colour: ${text}` })),
  );
  const ghosts = h("input", {
    type: "checkbox",
    onchange: () => ctx.onEdit("ghosts", ghosts.checked ? "show" : "hide"),
  });
  const whole = h("input", {
    type: "checkbox",
    onchange: () => {
      text.whole();
      room.set(whole.checked);
    },
  });
  const file = h("input", {
    type: "file",
    accept: ".jsonl,.gz,application/gzip,application/json",
    class: "hx-sr",
    tabindex: "-1",
    "aria-hidden": "true",
    onchange: () => {
      if (file.files[0]) ctx.onOpen(file.files[0]);
      file.value = "";
    },
  });
  const button = (name, label, onclick) =>
    h(
      "button",
      { type: "button", class: "hx-icon-button", "aria-label": label, "data-tip": label, onclick },
      icon(name),
    );
  const opener = button("open", "open a trace file: or drop it anywhere onto the page", () => file.click());
  opener.classList.add("hx-open-trace");
  const save = async () => {
    const name = traceName(feed.model.header);
    await saveGzip(feed.lines(), name);
    return `The trace was saved as ${name}.`;
  };
  const told = async (action, done = "") => {
    if (!feed.model?.header) return ctx.onTell("There is no run yet.", "");
    try {
      const said = await action();
      ctx.onTell(said || done, "");
    } catch (/** @type {any} */ error) {
      ctx.onTell(error.message, "error");
    }
  };
  const head = h(
    "header",
    { class: "hx-panel-head" },
    title,
    h("span", { class: "hx-above", text: "\u2191 begins above" }),
    h(
      "label",
      { class: "hx-tick", "data-tip": "drafts that a level rejected, struck out where they stood" },
      ghosts,
      h("span", { text: "rejected drafts" }),
    ),
    h(
      "label",
      { class: "hx-tick", "data-tip": "the text from its beginning, over the place of the tower" },
      whole,
      h("span", { text: "whole text" }),
    ),
    colour,
    button("copy", "copy the text", () => told(() => copy(feed.model.text()), "The text was copied.")),
    button("save", "download the trace", () => told(save)),
    opener,
    file,
  );
  const body = h("div", { class: "hx-text-body" });
  const foot = h("footer", { class: "hx-text-foot" });
  const share = h("i");
  const saying = h("b");
  const detail = h("span");
  const progress = h(
    "div",
    { class: "hx-progress", hidden: true },
    h("div", { class: "hx-progress-bar", "aria-hidden": "true" }, share),
    saying,
    detail,
  );
  const blank = h(
    "div",
    { class: "hx-empty", hidden: true },
    h("b", { text: "Nothing has been run yet." }),
    h("p", {
      text: "Write a prompt and press Generate: the text appears here, each token tinted by the level that supplied it.",
    }),
    h("p", {
      text: "The first run fetches and loads the weights, which takes a minute or two; later ones start at once. You can also open a trace file.",
    }),
  );
  const el = h("section", { class: "hx-text-panel", "aria-label": "the text" }, head, body, foot, progress, blank);
  const text = createText(body, { onSelect: ctx.onSelect });
  const legend = createLegend(foot);
  const room = textRoom(el, text.el, whole);
  return {
    el,
    title(name) {
      say(title, name || "The text");
      title.title = title.textContent;
    },
    show() {
      colour.value = settings.colour;
      ghosts.checked = settings.ghosts === "show";
    },
    press: (serial) => text.press(serial),
    update(model, cursor, opts) {
      blank.hidden = true;
      text.update(model, cursor, opts);
      room.update(model);
      legend.update(model, cursor, opts);
    },
    empty() {
      blank.hidden = false;
    },
    progress(status) {
      progress.hidden = !status;
      if (!status) return;
      say(saying, status.text);
      say(detail, status.detail);
      progress.dataset.known = String(Boolean(status.share));
      share.style.width = status.share ? `${100 * status.share}%` : "";
    },
  };
}
