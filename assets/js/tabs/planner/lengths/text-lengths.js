/** How long the text is: from which length on a view of the cache pays, in a sentence, a small picture and its table.
 *  Asked for when it is opened; left out where a preset has no profiles by length. */

import { h, say } from "../../../shared/kit/dom.js";
import { svg } from "../../../shared/kit/svg.js";
import { nameOfStack, stackName, stackNames } from "../../../shared/levels/stack-names.js";
import { rounded } from "../../../../text/numbers.js";
import { LENGTHS } from "../../../../text/en/lengths.js";
import { PLANNER } from "../../../../text/en/planner.js";
import { drawLengths, lineName } from "./length-plot.js";

const PHONE = 700; // px of the page, as in planner.css
const HIGH = { phone: 240, screen: 280 };

/** @typedef {import("./length-plot.js").Table} Table */

/** @param {string} url of all tables */
export function textLengths(url) {
  /** @type {Promise<{tables: Table[]}>|null} */ let coming = null;
  /** @type {Table|null} */ let shown = null;
  let wanted = ""; // the preset and device whose table is asked for
  const answer = h("p", { class: "hx-sm-answer", role: "status", "aria-live": "polite", text: LENGTHS.asking });
  const note = h("p", { class: "hx-sm-note" });
  const upright = h("p", { class: "hx-sm-upright", text: LENGTHS.upright, "aria-hidden": "true" });
  const picture = svg("svg", { class: "hx-al-curve hx-tl-plot", role: "img" });
  const rows = h("div", { class: "hx-figure-scroll", tabindex: "0", role: "group", "aria-label": LENGTHS.table });
  const body = h(
    "div",
    { hidden: true },
    note,
    upright,
    picture,
    h("div", { class: "hx-figure-data hx-tl-data" }, rows),
  );
  const el = h("section", { class: "hx-panel hx-tl", "aria-label": LENGTHS.label }, answer, body);
  new ResizeObserver(() => draw()).observe(el);

  const opened = () => Boolean(el.closest("details")?.open);

  function draw() {
    if (!shown || !el.clientWidth || !shown.lines.length) return;
    drawLengths(picture, shown, Math.max(300, picture.clientWidth), innerWidth < PHONE ? HIGH.phone : HIGH.screen);
  }

  async function ask() {
    if (!wanted || !opened()) return;
    const asked = wanted;
    coming ??= fetch(url).then((reply) => reply.json());
    try {
      const { tables = [] } = await coming;
      if (asked !== wanted) return;
      show(tables.find((one) => placeOf(one) === asked));
    } catch {
      coming = null; // it is asked again when it is opened again
      say(answer, PLANNER.unreachable);
    }
  }

  /** @param {Table|undefined} table */
  function show(table) {
    shown = table && !table.error ? table : null;
    body.hidden = !shown;
    if (!shown) return say(answer, table?.error ?? PLANNER.unreachable);
    say(answer, headline(shown));
    say(note, LENGTHS.note(shown.about.machine ?? "", (shown.about.recorded ?? "").slice(0, 10)));
    picture.setAttribute("aria-label", `${LENGTHS.plot}. ${atTheEnd(shown)}`);
    rows.replaceChildren(lengthTable(shown));
    draw();
    el.dataset.ready = "true";
  }

  return {
    el,
    /** It was opened. */
    wake() {
      ask();
      draw();
    },
    /** Whose lengths are shown, if there are any. @param {string} preset @param {string} device @param {[string, string][]} known */
    of(preset, device, known) {
      const one = placeOf({ preset, device });
      wanted = known.some(([preset, device]) => placeOf({ preset, device }) === one) ? one : "";
      const around = el.closest("details");
      if (around) around.hidden = !wanted;
      ask();
    },
  };
}

/** @param {{preset: string, device: string}} of */
const placeOf = ({ preset, device }) => `${preset} ${device.split(":")[0]}`;

/** From where on the best stack with a view is ahead of the best without, in a sentence. @param {Table} table */
export function headline({ lines, rows, ahead, overtakes }) {
  const last = rows[rows.length - 1];
  if (!lines.length || lines.every(({ points }) => points.every(([, gain]) => gain <= 1))) return LENGTHS.nothing;
  if (lines.length < 2) return LENGTHS.alone(stackName(last.best[0].stack), last.best[0].speedup, last.length);
  const [view, other] = last.best.map(({ stack }) => stack);
  const names = stackNames([view, other]);
  const called = /** @type {const} */ ([names.get(view) ?? "", names.get(other) ?? ""]);
  if (!overtakes) return LENGTHS.never(last.length, ...called);
  if (overtakes > last.length) return LENGTHS.beyond(overtakes, ...called);
  const gains = /** @type {const} */ ([last.best[0].speedup, last.best[1].speedup]);
  const open = ahead.map(
    ([from, to]) => /** @type {const} */ ([from <= rows[0].length ? null : from, to >= last.length ? null : to]),
  );
  const start = open.some(([from, to]) => from === null && to === null) ? LENGTHS.always : LENGTHS.pays(open);
  return `${start} ${LENGTHS.there(last.length, gains, called)}`;
}

/** @param {Table} table */
function atTheEnd({ lines }) {
  return lines
    .map((line) => {
      const [length, gain] = line.points[line.points.length - 1];
      return LENGTHS.point(lineName(line), gain, length);
    })
    .join("; ");
}

/** @param {Table} table */
function lengthTable({ levels, rows, lines }) {
  const head = [LENGTHS.length, ...levels.map(({ name }) => LENGTHS.ms(name)), ...lines.map(lineName)];
  const called = stackNames(rows.flatMap(({ best }) => best.map(({ stack }) => stack)));
  const row = (/** @type {import("./length-plot.js").Row} */ one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", text: LENGTHS.count(one.length) }),
      ...one.ms.map((ms) => h("td", { text: rounded(ms) })),
      ...one.best.map(({ stack, speedup }) =>
        h(
          "td",
          { class: "hx-tl-best", "data-length": one.length },
          h("b", { text: LENGTHS.times(speedup) }),
          " ",
          nameOfStack(stack, called),
        ),
      ),
    );
  return h(
    "table",
    {},
    h("caption", { class: "hx-sr", text: LENGTHS.table }),
    h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col", text })))),
    h("tbody", {}, ...rows.map(row)),
  );
}
