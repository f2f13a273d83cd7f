/** The row of Share that shows the card for slides and saves it. */

import { h, icon, say } from "../kit/dom.js";
import { addressOf, saveDrawing, sourceOf } from "../kit/picture/save.js";
import { isDark } from "../kit/theme.js";
import { drawSlide } from "./slide.js";
import { slide as words, words as share } from "../../../text/en/share.js";

/** @param {import("../run/trace.js").Feed} feed @param {(text: string) => void} tell */
export function slideRow(feed, tell) {
  const dark = h("input", { type: "checkbox", onchange: () => show() });
  const seen = h("img", { class: "hx-share-slide" });
  const note = h("small", { class: "hx-share-note" });
  /** @type {ReturnType<typeof drawSlide>|null} */ let drawn = null;
  const save = (/** @type {"svg"|"png"} */ kind, /** @type {string} */ tip) =>
    h(
      "button",
      {
        ...{ type: "button", class: "hx-quiet", "data-tip": tip, "aria-label": `${words.row}: ${kind.toUpperCase()}` },
        onclick: () =>
          drawn &&
          saveDrawing(drawn.picture, nameOf(feed), kind).then(
            (name) => tell(words.saved(name)),
            (error) => tell(error.message),
          ),
      },
      icon("save"),
      h("span", { text: kind.toUpperCase() }),
    );
  const buttons = h(
    "div",
    { class: "hx-share-buttons" },
    h("label", { class: "hx-tick" }, dark, h("span", { text: words.dark })),
    save("svg", words.svgTip),
    save("png", words.pngTip),
  );
  function show() {
    const { model, final } = feed;
    drawn = final && model?.header && model.snapshots.length ? drawSlide(model, dark.checked) : null;
    buttons.hidden = seen.hidden = !drawn;
    say(note, drawn ? words.note : model?.header ? share.notOver : share.nothing);
    if (!drawn) return;
    seen.src = addressOf(sourceOf(drawn.picture));
    seen.alt = drawn.label;
  }
  return {
    el: h("div", { class: "hx-share-row" }, h("b", { text: words.row }), buttons, seen, note),
    /** Draws the run that is shown now, in the page's theme. */
    show() {
      dark.checked = isDark();
      show();
    },
  };
}

/** @param {import("../run/trace.js").Feed} feed */
const nameOf = ({ model }) => `${model?.header?.title || model?.header?.stack || ""} card`;
