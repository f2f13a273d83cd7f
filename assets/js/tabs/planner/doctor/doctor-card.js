/** A diagnosis as one card: the answer, where a token's time goes, the gain by draft length, what to change. */

import { h, icon, say } from "../../../shared/kit/dom.js";
import { copy } from "../../../shared/kit/files.js";
import { svg } from "../../../shared/kit/svg.js";
import { DOCTOR } from "../../../../text/en/doctor.js";
import { drawGain, ofGains, readLength } from "./gain-curve.js";

/** @import {Point} from "./gain-curve.js" */

const HIGH = 280; // px of the curve

/** @typedef {{value: number, low: number|null, high: number|null, at_least?: boolean}} Rate */

/** @param {any} answer the server's @param {string} link an address, or "" @returns {HTMLElement} */
export function doctorCard(answer, link) {
  const part = (/** @type {string} */ title, /** @type {(Node|null)[]} */ ...inside) =>
    h("section.hx-doc-part", [h("h3.hx-plan-h", title), inside]);
  const texts = (/** @type {string[]} */ lines) => h("ul.hx-doc-list", [lines.map((text) => h("li", text))]);
  const [first, rest = ""] = answer.verdict.split(/(?<=\.) (.*)/s); // the first sentence is the heading
  return h("article.hx-panel.hx-doc-card", { "aria-label": DOCTOR.card, tabindex: "-1" }, [
    h("p.hx-doc-engine", DOCTOR.of(answer.title, answer.drafter)),
    h("h2.hx-doc-verdict", first),
    rest && h("p.hx-doc-more", rest),
    answer.counted && h("p.hx-plan-text", DOCTOR.counted(answer.counted)),
    answer.compared.length > 0 && part(DOCTOR.compared, settingsTable(answer.compared)),
    answer.parts.length > 0 && part(DOCTOR.where, tokenTime(answer.parts)),
    answer.k && part(answer.curve.length && !ofGains(answer.curve) ? DOCTOR.curveMs : DOCTOR.curve, ...curveOf(answer)),
    part(DOCTOR.change, ...changes(answer)),
    answer.by_category.length > 0 &&
      part(DOCTOR.byKind, kindsTable(answer.by_category), h("p.hx-plan-text", DOCTOR.byKindNote)),
    answer.by_batch && part(DOCTOR.byBatch, ...batchTable(answer.by_batch)),
    answer.findings.length > 0 &&
      part(DOCTOR.findings, texts(answer.findings.map((/** @type {{text: string}} */ { text }) => text))),
    answer.acceptance.length > 0 && part(DOCTOR.places, placesTable(answer)),
    answer.rates.length > 0 &&
      part(
        DOCTOR.rates,
        texts(
          answer.rates.map((/** @type {{name: string, value: number, means: string}} */ { name, value, means }) =>
            DOCTOR.rate(name, DOCTOR.percent(value), means),
          ),
        ),
      ),
    answer.levels.length > 0 && part(DOCTOR.levels, texts(answer.levels)),
    answer.missing.length > 0 && part(DOCTOR.missing, texts(answer.missing)),
    link && h("div.hx-doc-link", [copier(DOCTOR.link, link), h("span.hx-plan-text", DOCTOR.linkNote)]),
  ]);
}

/** A bar of the parts, and the same in words. @param {{kind: string, ms: number, words: string}[]} parts */
function tokenTime(parts) {
  const whole = parts.reduce((sum, { ms }) => sum + ms, 0);
  const said = parts.map(({ words, ms }) => DOCTOR.part(words, DOCTOR.ms(ms), ms / whole));
  return h("div.hx-doc-time", [
    h("div.hx-doc-bar", { role: "img", "aria-label": said.join(", ") }, [
      parts.map(({ kind, ms }) => h("i", { "data-part": kind, style: { "flex-grow": String(ms / whole) } })),
    ]),
    h("ul.hx-doc-keys", [parts.map(({ kind }, i) => h("li", { "data-part": kind, text: said[i] }))]),
  ]);
}

/** The curve, read out by arrow keys, and its table. @param {any} answer @returns {Node[]} */
function curveOf({ curve, best, k }) {
  if (!curve.length) return [h("p.hx-plan-text", DOCTOR.noCurve)];
  const gains = ofGains(curve);
  let at = curve.findIndex((/** @type {{k: number}} */ point) => point.k === best.k);
  const picture = svg("svg.hx-doc-curve", { "aria-hidden": "true" });
  const reading = h("p.hx-doc-reading", { role: "status", "aria-live": "polite" });
  const box = h(
    "div.hx-doc-picture",
    {
      tabindex: "0",
      role: "slider",
      "aria-label": gains ? DOCTOR.curve : DOCTOR.curveMs,
      "aria-valuemin": curve[0].k,
      "aria-valuemax": curve[curve.length - 1].k,
      "data-tip": DOCTOR.steps,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -99, End: 99 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        move(at + step);
      },
    },
    picture,
  );
  const draw = () =>
    box.clientWidth &&
    drawGain(picture, curve, { best: best.k, now: k, at: curve[at].k }, Math.max(280, box.clientWidth), HIGH);
  function move(/** @type {number} */ to) {
    at = Math.min(curve.length - 1, Math.max(0, to));
    const said = readLength(curve[at], gains);
    say(reading, said);
    box.setAttribute("aria-valuenow", String(curve[at].k));
    box.setAttribute("aria-valuetext", said);
    draw();
  }
  move(at);
  new ResizeObserver(draw).observe(box);
  const rows = curve.map((/** @type {Point} */ point) => [
    String(point.k),
    point.tokens.toFixed(2),
    DOCTOR.ms(point.ms),
    point.speed_up === null ? "" : DOCTOR.times(point.speed_up),
    point.low === null || point.high === null ? "" : DOCTOR.between(DOCTOR.times(point.low), DOCTOR.times(point.high)),
  ]);
  return [
    box,
    reading,
    h("details.hx-figure-data", [h("summary", DOCTOR.table), scrolled(DOCTOR.columns, rows, DOCTOR.curve)]),
  ];
}

/** @param {any} answer */
function placesTable({ acceptance, survival }) {
  const rows = acceptance.map((/** @type {Rate} */ share, /** @type {number} */ i) => [
    String(i + 1),
    share.at_least ? DOCTOR.atLeast(DOCTOR.percent(share.value)) : DOCTOR.percent(share.value),
    share.low === null || share.high === null
      ? ""
      : DOCTOR.between(DOCTOR.percent(share.low), DOCTOR.percent(share.high)),
    survival[i] ? DOCTOR.percent(survival[i].value) : "",
  ]);
  return scrolled(DOCTOR.placeColumns, rows, DOCTOR.places);
}

/** The best draft length of each kind of text, and how it is set. @param {any[]} kinds */
function kindsTable(kinds) {
  const rows = kinds.map(({ category, acceptance, k, speed_up, setting }) => [
    category,
    DOCTOR.percent(acceptance),
    k ? String(k) : DOCTOR.noDrafts,
    k && speed_up !== null ? DOCTOR.times(speed_up) : "",
    h("div.hx-doc-setting", [h("code", setting), copier(DOCTOR.copy, setting)]),
  ]);
  return scrolled(DOCTOR.kindColumns, rows, DOCTOR.byKind);
}

/** The best draft length of each number of requests at once, and the engine's table of them. @param {any} found */
function batchTable({ ranges, running, costs, setting, note, needs }) {
  const rows = ranges.map((/** @type {any} */ { low, high, k, speed_up }, /** @type {number} */ i) => [
    DOCTOR.span(low, high, i === ranges.length - 1),
    k ? String(k) : DOCTOR.noDrafts,
    k && speed_up !== null ? DOCTOR.times(speed_up) : "",
  ]);
  const said = [running === null ? "" : DOCTOR.running(running), `${costs[0].toUpperCase()}${costs.slice(1)}.`, needs];
  return [
    scrolled(DOCTOR.batchColumns, rows, DOCTOR.byBatch),
    h("div.hx-doc-change", [h("p", note), h("pre", h("code", setting)), copier(DOCTOR.copy, setting)]),
    ...said.filter(Boolean).map((text) => h("p.hx-plan-text", text)),
  ];
}

/** @param {string[]} columns @param {(string|Node)[][]} rows @param {string} label */
function scrolled(columns, rows, label) {
  const head = h("thead", [h("tr", [columns.map((text) => h("th", { scope: "col", text }))])]);
  const body = rows.map(([first, ...cells]) =>
    h("tr", [h("th", { scope: "row" }, first), cells.map((text) => h("td", text))]),
  );
  const table = h("table", [head, h("tbody", body)]);
  return h("div.hx-figure-scroll.hx-figure-data", { tabindex: "0", role: "group", "aria-label": label }, table);
}

/** Every setting that the text tells of, the quickest first. @param {any[]} settings */
function settingsTable(settings) {
  const rows = settings.map((one) => [
    one.name,
    one.ms_per_token !== null
      ? DOCTOR.ms(one.ms_per_token)
      : one.at_most_ms !== null
        ? DOCTOR.atMost(DOCTOR.ms(one.at_most_ms))
        : "",
    one.k === 0 || one.tokens_per_pass === null ? "" : one.tokens_per_pass.toFixed(2),
    one.acceptance === null ? "" : DOCTOR.percent(one.acceptance),
  ]);
  return scrolled(DOCTOR.comparedColumns, rows, DOCTOR.compared);
}

/** @param {any} answer */
function changes({ remedies, best, curve, k }) {
  const longer = curve.length && curve[curve.length - 1].k > k; // lengths beyond the present one were judged too
  const none = best && longer ? DOCTOR.nothingToChange : DOCTOR.nothingKnown;
  if (!remedies.length) return [h("p.hx-plan-text", none)];
  return remedies.map((/** @type {{why: string, text: string}} */ { why, text }) =>
    h("div.hx-doc-change", [h("p", why), text ? [h("pre", h("code", text)), copier(DOCTOR.copy, text)] : []]),
  );
}

/** A button that copies, and says so. @param {string} label @param {string} text */
function copier(label, text) {
  const said = h("span", { text: label, "aria-live": "polite" });
  const button = h(
    "button.hx-quiet",
    {
      onclick: () =>
        copy(text).then(
          () => say(said, DOCTOR.copied),
          () => say(said, DOCTOR.notCopied),
        ),
    },
    [icon("copy"), said],
  );
  return button;
}
