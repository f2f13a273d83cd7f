/** The small button at a chart that saves it as a picture. */

import { h, icon, popover } from "../dom.js";
import { isDark } from "../theme.js";
import { savePicture } from "./save.js";
import { words } from "../../../../text/en/picture.js";

/**
 * @param {() => HTMLElement|null} host the chart
 * @param {() => string} title
 */
export function pictureButton(host, title) {
  const light = h("input", { type: "checkbox", checked: true });
  const tick = h("label", { class: "hx-tick" }, light, h("span", { text: words.light }));
  const failed = h("p", { class: "hx-item-note", role: "alert", hidden: true });
  const item = (/** @type {"svg"|"png"} */ kind, /** @type {string} */ note) =>
    h(
      "button",
      {
        type: "button",
        class: "hx-item",
        onclick: async () => {
          const chart = host();
          if (!chart) return;
          try {
            await savePicture(chart, title(), { kind, light: !tick.hidden && light.checked });
            pop.close();
            button.focus();
          } catch {
            failed.hidden = false;
            failed.textContent = words.failed;
          }
        },
      },
      h("span", { class: "hx-item-title", text: words[kind] }),
      h("span", { class: "hx-item-note", text: note }),
    );
  const panel = h(
    "div",
    { class: "hx-picture-menu" },
    item("svg", words.svgNote),
    item("png", words.pngNote),
    tick,
    failed,
  );
  const button = h("button", { type: "button", class: "hx-picture-button" }, icon("picture"));
  const pop = popover(button, panel, {
    label: words.save(""),
    onOpen: () => {
      failed.hidden = true;
      // Plotly's colours are drawn into the chart: another theme needs another drawing.
      tick.hidden = !isDark() || Boolean(host()?.querySelector(".js-plotly-plot, .plot-container"));
      panel.setAttribute("aria-label", words.save(title()));
      panel.querySelector("button")?.focus();
    },
  });
  const name = () => {
    button.setAttribute("aria-label", words.save(title()));
    button.title = words.save(title());
  };
  name();
  for (const sign of ["pointerenter", "focus"]) button.addEventListener(sign, name);
  pop.el.classList.add("hx-picture");
  pop.el.dataset.noPicture = "";
  return pop.el;
}
