/** The small button at a chart that saves it as a picture, SVG or PNG. */

import { h, icon, popover } from "../dom.js";
import { isDark } from "../theme.js";
import { words } from "../../../../text/en/picture.js";
import { saveBlob } from "../files.js";
import { paint } from "./paint.js";

/** @param {() => HTMLElement|null} host the chart @param {() => string} title */
export function pictureButton(host, title) {
  const light = h("input", { type: "checkbox", checked: true });
  const tick = h("label.hx-tick", [light, h("span", words.light)]);
  const failed = h("p.hx-item-note", { role: "alert", hidden: true });
  const item = (/** @type {"svg"|"png"} */ kind, /** @type {string} */ note) =>
    h(
      "button.hx-item",
      {
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
      [h("span.hx-item-title", words[kind]), h("span.hx-item-note", note)],
    );
  const panel = h("div.hx-picture-menu", [item("svg", words.svgNote), item("png", words.pngNote), tick, failed]);
  const button = h("button.hx-picture-button", icon("picture"));
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

// A chart as a file: SVG, or a PNG of it.

const FINER = 2; // pixels of a PNG to one of the screen

/** @param {HTMLElement} host @param {string} title
 *  @param {{kind: "svg"|"png", light: boolean}} how light: as the light page shows it */
async function savePicture(host, title, { kind, light }) {
  return saveDrawing(painted(host, title, light), title, kind);
}

/** @param {SVGElement} drawing @param {string} title @param {"svg"|"png"} kind @returns {Promise<string>} the file's name */
export async function saveDrawing(drawing, title, kind) {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${sourceOf(drawing)}`;
  const name = `hsd_${title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")}.${kind}`;
  const picture = new Blob([text], { type: "image/svg+xml" });
  saveBlob(kind === "svg" ? picture : await pixels(text), name);
  return name;
}

/** @param {SVGElement} drawing */
export const sourceOf = (drawing) => new XMLSerializer().serializeToString(drawing);

/** The theme is changed and put back between two frames: nobody sees it. */
function painted(/** @type {HTMLElement} */ host, /** @type {string} */ title, /** @type {boolean} */ light) {
  const { classList } = document.body;
  const turned = light && isDark();
  classList.add("hx-still");
  if (turned) classList.remove("dark");
  try {
    return paint(host, title);
  } finally {
    if (turned) classList.add("dark");
    classList.remove("hx-still");
  }
}

/** An SVG as the address of an image. @param {string} text */
export const addressOf = (text) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;

/** @param {string} text an SVG @returns {Promise<Blob>} */
async function pixels(text) {
  const image = new Image();
  image.src = addressOf(text);
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [FINER * image.width, FINER * image.height];
  const context = canvas.getContext("2d");
  context?.scale(FINER, FINER);
  context?.drawImage(image, 0, 0);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(words.failed))), "image/png"),
  );
}
