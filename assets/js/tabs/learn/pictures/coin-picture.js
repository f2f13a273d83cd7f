/** One recorded place of a sampled text: the draft's distribution, the target's and the residual, and a coin to toss as often
 *  as one likes, beside the exact distribution of what comes out. */

import { insteadOf, sampledAct } from "../../../shared/anatomy/act.js";
import { table } from "../../../shared/anatomy/marks.js";
import { h } from "../../../shared/kit/dom.js";
import { ofRun, stated } from "../../../shared/levels/stated.js";
import { figure as asWritten } from "../../../../text/numbers.js";
import { rejected } from "../figures/run-figures.js";
import { between, keptShare, outcome, residual, seeded, toss } from "../figures/sums.js";
import { frame, slider } from "./frame.js";
import { COIN } from "../../../../text/en/pictures.js";

const LINES = 7;
const MANY = 1000;
const FRAMES = 24; // in which so many are tossed

/** @param {import("./frame.js").PictureContext} ctx @returns {import("./frame.js").Picture} */
export function coinPicture({ model, step, figure, open }) {
  const [, ...which] = (figure.at ?? step.action?.at ?? "").split(" ").filter((word) => word !== "end");
  const record = rejected(model, ...which);
  const j = record?.judgements.find((one) => one.outcome === "rejected");
  const act = record && j ? sampledAct(model, record, j, LINES) : null;
  if (!record || !j || !act) throw new Error("no sampled rejection");
  const own = insteadOf(model, record, j);
  const sum = (/** @type {"p"|"q"} */ key) => act.lines.reduce((all, line) => all + line[key], 0);
  const [p, q] = /** @type {const} */ (["p", "q"]).map((key) => act.lines.map((line) => line[key] / sum(key)));
  const [drafter, verifier] = [model.levels[record.level], model.levels[j.level]];
  const random = seeded(7);
  /** @type {{share: number, from: import("../figures/sums.js").From, counts: number[], kept: number, frame: number}} */
  const now = { share: 1, from: "residual", counts: [], kept: 0, frame: 0 };
  const room = h("div.hx-sketch-table");

  const reset = () => {
    cancelAnimationFrame(now.frame);
    Object.assign(now, { counts: p.map(() => 0), kept: 0 });
    draw();
  };
  const tossed = () => now.counts.reduce((a, b) => a + b, 0);
  function throws(/** @type {number} */ times) {
    const draft = between(p, q, now.share);
    for (let i = 0; i < times; i++) {
      const { token, kept } = toss(p, draft, now.from, random);
      now.counts[token] += 1;
      now.kept += Number(kept);
    }
    draw();
  }
  function many(/** @type {number} */ left) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const some = still ? left : Math.min(left, Math.ceil(MANY / FRAMES));
    throws(some);
    if (left > some) now.frame = requestAnimationFrame(() => many(left - some));
  }

  function draw() {
    const draft = between(p, q, now.share);
    const all = tossed();
    const rest = residual(p, draft);
    const exact = outcome(p, draft, now.from);
    const lines = act?.lines.map((line, i) => ({
      ...line,
      drawn: !open && line.id === own?.id,
      ...{ p: p[i], q: draft[i], both: Math.min(p[i], draft[i]), rest: rest[i], exact: exact[i] },
      out: all ? now.counts[i] / all : null,
    }));
    const lost = act?.lines.findIndex(({ id }) => id === record?.id) ?? -1;
    if (now.share === 1 && lost >= 0)
      for (const [what, law] of /** @type {const} */ ([
        ["p", p],
        ["q", q],
      ]))
        stated(["reject", ...which, what], ofRun(model.header), asWritten(law[lost]));
    const column = (/** @type {keyof typeof COIN.columns} */ key, hue = "") => ({ key, hue, ...COIN.columns[key] });
    const law = (/** @type {"p"|"q"} */ key, /** @type {{hue: string, tag: string}} */ level) => ({
      ...column(key, level.hue),
      name: COIN.of(level.tag, COIN.columns[key].name),
    });
    const heads = [law("q", drafter), law("p", verifier)];
    if (!open)
      heads.push(column("both"), column("rest"), column("exact", verifier.hue), column("out", "var(--accent)"));
    room.replaceChildren(table(model, lines ?? [], heads, {}));
    const far = all ? Math.max(...p.map((x, i) => Math.abs(x - now.counts[i] / all))) : 0;
    picture.tell(
      open
        ? COIN.open
        : COIN.says({
            all,
            kept: all ? now.kept / all : 0,
            share: keptShare(p, draft),
            far,
            wrong: now.from === "target",
          }),
    );
  }

  const button = (/** @type {string} */ text, /** @type {() => void} */ onclick) =>
    h("button.hx-quiet", { text, disabled: open, onclick });
  const wrong = h("input", {
    type: "checkbox",
    disabled: open,
    onchange: () => {
      now.from = /** @type {HTMLInputElement} */ (wrong).checked ? "target" : "residual";
      reset();
    },
  });
  const share = slider({
    label: COIN.share,
    ...{ min: 0, max: 1, step: 0.05, value: 1, locked: open },
    text: (value) => `${Math.round(100 * value)}\u00a0%`,
    onInput: (value) => {
      now.share = value;
      reset();
    },
  });
  const controls = h("span.hx-sketch-buttons", [
    button(COIN.once, () => throws(1)),
    button(COIN.many(MANY), () => many(MANY)),
    button(COIN.again, reset),
  ]);
  const picture = frame(
    "coin",
    COIN.label,
    [room],
    open ? [] : [controls, share, h("label.hx-tick", [wrong, COIN.wrong])],
  );
  reset();
  return { el: picture.el, end: () => cancelAnimationFrame(now.frame) };
}
