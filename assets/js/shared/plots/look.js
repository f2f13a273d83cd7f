/** How figures for plotly look that a script builds: the page's colours and sizes. */

import { inkOf } from "../kit/picture/ink.js";

const NARROW = 700; // px of the page, as in planner.css
const WALL = 1800;

export const narrow = () => innerWidth < NARROW;
export const px = (/** @type {number} */ size) => (innerWidth >= WALL ? Math.round(size * 1.4) : size);
export const css = (/** @type {string} */ name) => getComputedStyle(document.body).getPropertyValue(name).trim();

/** A colour of the style sheets as plotly can read it. @param {string} hue such as a level's: a variable, or a mix of two */
export function solid(hue) {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = hue;
  const { colour } = inkOf(getComputedStyle(probe).color);
  probe.remove();
  return colour;
}

/** @param {number} height @param {Record<string, any>} more of plotly's layout */
export function layout(height, more) {
  const axis = {
    gridcolor: css("--line"),
    linecolor: css("--line"),
    zeroline: false,
    automargin: true,
    fixedrange: true,
  };
  return {
    height: px(height),
    margin: { l: 8, r: 16, t: 8, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: css("--ink"), size: px(12), family: css("--font-ui") },
    hoverlabel: { bgcolor: css("--raise"), font: { color: css("--ink") }, bordercolor: css("--muted") },
    showlegend: false,
    dragmode: false,
    ...more,
    xaxis: { ...axis, ...more.xaxis },
    yaxis: { ...axis, ...more.yaxis },
  };
}

/** A hue over the paper, as plotly can read it. @param {string} name @param {number} share */
export function mixed(name, share) {
  const [a, b] = [css(name), css("--paper")].map(
    (hex) => hex.match(/[\da-f]{2}/gi)?.map((part) => parseInt(part, 16)) ?? [0, 0, 0],
  );
  return `rgb(${a.map((value, i) => Math.round(share * value + (1 - share) * b[i])).join(",")})`;
}

/** Colours of gains: orange where something loses, green where it gains, the paper at 1. @returns {[number, string][]} */
export const gainScale = () => [
  [0, mixed("--hue-reject", 0.6)],
  [0.5, css("--paper")],
  [1, mixed("--good", 0.6)],
];

/** A label in lines of about so many characters. @param {string} text @param {number} longest */
export function wrapped(text, longest) {
  const lines = [""];
  for (const word of safe(text).split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + 1 + word.length > longest) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines.join("<br>");
}

/** Plotly reads a small HTML in its labels. @param {string} text */
export const safe = (text) => text.replaceAll("<", "‹").replaceAll(">", "›").replaceAll("&", "＆");

const SETTLE_MS = 250; // a window that is being dragged is not redrawn

/** Draws again in another theme, and once a window of another width rests. @param {() => void} draw */
export function onLook(draw) {
  let [settling, width] = [0, innerWidth];
  new MutationObserver(draw).observe(document.body, { attributeFilter: ["class"] });
  addEventListener("resize", () => {
    clearTimeout(settling);
    settling = setTimeout(() => {
      if (width !== innerWidth) draw();
      width = innerWidth;
    }, SETTLE_MS);
  });
}
