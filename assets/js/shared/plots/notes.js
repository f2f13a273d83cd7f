// Title, description and data table of one figure, from JSON, by textContent only.

import { drawnOf } from "./figure-run.js";
import { pictureButton } from "../kit/picture/button.js";
import { FIGURE } from "../../../text/en/page.js";

/** @param {HTMLElement} root
 *  @param {{props: {part: string, value: string}, watch: (name: string, f: () => void) => void}} component */
export function mount(root, { props, watch }) {
  const show = () => fill(root, props.part, props.value ? JSON.parse(props.value) : null);
  watch("value", show);
  show();
}

/** @typedef {{title: string, text: string, columns: string[], rows: unknown[][], run?: any}} Note as app/kit/notes.py has it */

/** Shows a part of a note where it stands in its figure.
 *  @param {HTMLElement} root @param {string} part "head" or "table" @param {Note|null} note null: there is no such figure
 */
export function fill(root, part, note) {
  const figure = /** @type {HTMLElement|null} */ (root.closest(".hx-figure"));
  if (note && figure) describe(figure, note);
  if (note?.run && figure) drawnOf(figure, note.run);
  root.replaceChildren(...(note ? (part === "table" ? [table(note)] : head(note, figure)) : []));
}

function head(/** @type {Note} */ note, /** @type {HTMLElement|null} */ figure) {
  const line = make("div", "", "hx-pictured");
  const plot = () => /** @type {HTMLElement|null} */ (figure?.querySelector(".js-plotly-plot") ?? null);
  line.append(make("h2", note.title, "hx-figure-title"));
  if (note.columns.length) line.append(pictureButton(plot, () => note.title));
  return [line, make("p", note.text, "hx-figure-text")];
}

function table(/** @type {Note} */ note) {
  const details = make("details", "", "hx-figure-data");
  details.append(named(make("summary", FIGURE.table), FIGURE.tableOf(note.title)));
  const body = document.createElement("table");
  const top = body.createTHead().insertRow();
  for (const name of note.columns) {
    const cell = make("th", name);
    cell.scope = "col";
    top.append(cell);
  }
  const rows = body.createTBody();
  for (const row of note.rows) {
    const line = rows.insertRow();
    row.forEach((value, i) => line.append(make(i ? "td" : "th", String(value))));
  }
  const scroll = make("div", "", "hx-figure-scroll");
  scroll.tabIndex = 0;
  scroll.append(body);
  details.append(scroll);
  return details;
}

/** To a screen reader the whole panel is a figure: what it shows, and that a table says the same. */
function describe(/** @type {HTMLElement} */ figure, /** @type {Note} */ { title, text }) {
  figure.setAttribute("role", "figure");
  named(figure, FIGURE.said(title, text));
}

function named(/** @type {HTMLElement} */ element, /** @type {string} */ label) {
  element.setAttribute("aria-label", label);
  return element;
}

/** @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {string} text @param {string} [className] */
function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (className) element.className = className;
  return element;
}
