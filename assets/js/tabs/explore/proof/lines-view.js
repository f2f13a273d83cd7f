/** Two lines of tokens, plain decoding above and the stack below: equal ones joined, small margins marked. */

import { h } from "../../../shared/kit/dom.js";
import { linesOf, nearTie } from "./lines.js";
import { LINES } from "../../../../text/en/proof.js";

/** @param {any} model @param {import("../../../shared/player/player.js").Player} player */
export function linesView(model, player) {
  const { header, footer } = model;
  if (header.levels.length === 1) return note(LINES.itself);
  const lines = linesOf(model);
  if (!lines.compared) return note(footer ? LINES.unmeasured : LINES.pending);
  const score = h("ol", { class: "hx-score", "aria-label": LINES.label, tabindex: "0" });
  const cells = lines.places.map((place) => cell(model, lines, place));
  score.append(names(), ...cells);
  const marks = h(
    "p",
    { class: "hx-proof-margins" },
    h("span", { class: "hx-an-muted", text: LINES.margins, tabindex: "0", "data-tip": LINES.marginTip }),
  );
  for (const at of lines.smallest) {
    const { margin, by } = lines.places[at];
    const record = model.tokens.get(model.committed[at]);
    marks.append(
      h(
        "button",
        {
          type: "button",
          class: "hx-quiet hx-proof-margin",
          "data-tip": LINES.marked(at, fine(margin), by),
          onclick: () => {
            cells[at].scrollIntoView({ block: "nearest" });
            for (const one of cells) one.classList.toggle("hx-score-here", one === cells[at]);
            if (record) player.seek(model.commitTimes[at]);
          },
        },
        h("b", { text: fine(margin) }),
        h("span", { text: model.pieceText(lines.places[at].own ?? lines.places[at].plain) }),
      ),
    );
  }
  return h(
    "div",
    { class: "hx-proof-lines" },
    h("p", { class: "hx-proof-said", text: said(model, lines) }),
    lines.smallest.length ? marks : null,
    score,
    h("p", {
      class: "hx-an-note",
      text: [reason(model, lines), LINES.tie, lines.recorded ? LINES.ids : LINES.notRecorded(lines.equal)]
        .join(" ")
        .trim(),
    }),
  );
}

/** Why the two lines are the same, or are not. */
function reason({ header, baseline }, lines) {
  if (!header.lossless) return LINES.lossy(header.lossless_reason);
  if (lines.first === null) return LINES.why;
  return baseline.margin === null || nearTie(baseline.margin) ? "" : LINES.wrong;
}

/** Two figures, however small: a near tie is what one looks for. */
const fine = (/** @type {number|null} */ x) => (x === null ? LINES.unknown : String(Number(x.toPrecision(2))));

const note = (text) => h("p", { class: "hx-proof-said", text });

function said(model, lines) {
  const count = model.committed.length;
  if (lines.first === null) return LINES.all(lines.equal);
  if (
    lines.margin === null &&
    lines.recorded &&
    lines.places[lines.first]?.plain !== null &&
    lines.places[lines.first]?.own !== null
  )
    return LINES.diverges(lines.equal, count, LINES.unknown);
  return lines.margin === null ? LINES.shorter(lines.equal) : LINES.diverges(lines.equal, count, fine(lines.margin));
}

const names = () =>
  h(
    "li",
    { class: "hx-score-names", "aria-hidden": "true" },
    h("span", { text: LINES.plain }),
    h("i"),
    h("span", { text: LINES.stack }),
  );

function cell(model, lines, { at, own, plain, same, margin, by }) {
  const record = model.tokens.get(model.committed[at]);
  const level = record ? model.levels[record.level] : null;
  const word = (id, name) =>
    h("span", {
      class: `hx-score-token ${name}`,
      text: id === null ? "\u00b7\u00b7\u00b7" : model.pieceText(id) || "\u2205",
    });
  const below = word(own, "hx-score-own");
  if (level) {
    below.style.setProperty("--hue", level.hue);
    below.dataset.line = level.underline;
  }
  const el = h(
    "li",
    { class: "hx-score-place" },
    word(plain, "hx-score-plain"),
    h("i", { "aria-hidden": "true" }),
    below,
  );
  el.dataset.same = same ? "1" : plain === null ? "" : "0";
  if (lines.first === at) el.dataset.first = "1";
  if (margin !== null) {
    el.dataset.tip = LINES.marked(at, fine(margin), by);
    const rank = lines.smallest.indexOf(at);
    if (rank >= 0) el.append(h("b", { class: "hx-score-margin", text: fine(margin) }));
  }
  return el;
}
