/** The proof: exactness that one can see. Greedy runs beside plain decoding, token by token; sampled runs by drawing one
 *  position a thousand times from the rows that were recorded. */

import { faceButton, h, say } from "../../../shared/kit/dom.js";
import { isGreedy } from "../../../shared/levels/greedy.js";
import { createDrawing } from "./histograms.js";
import { linesView } from "./lines.js";
import { DRAWS, PROOF } from "../../../../text/en/proof.js";

/** @param {{player: import("../../../shared/player/player.js").Player, onClose: () => void, onChange: () => void}} ctx */
export function createProof(ctx) {
  const title = h("h2", { tabindex: "-1" });
  const drawn = h("span.hx-an-muted");
  const body = h("div.hx-proof-body");
  const el = h("section.hx-desk.hx-proof", { "aria-label": PROOF.title, hidden: true }, [
    h("header.hx-panel-head.hx-desk-head", [
      title,
      drawn,
      faceButton("\u00d7", PROOF.close, () => ctx.onClose(), "hx-desk-close"),
    ]),
    body,
  ]);
  const drawing = createDrawing(ctx);
  /** @type {import("../../../shared/run/trace.js").TraceModel} */ let model = /** @type {any} */ (null); // until a run is shown
  let key = "";

  return {
    el,
    title,
    /** @returns {number|null} the token that the other views should mark */
    get selected() {
      return model?.header && !isGreedy(model) ? drawing.serial : null;
    },
    update(/** @type {import("../../../shared/run/trace.js").TraceModel} */ next) {
      if (next !== model) key = "";
      model = next;
      if (el.hidden || !model?.header) return;
      const made = Boolean(model.header.simulated);
      const sampled = !made && !isGreedy(model);
      say(title, sampled ? PROOF.sampledTitle : PROOF.title);
      say(drawn, sampled ? DRAWS.drawn : "");
      if (sampled) drawing.update(model);
      const now = `${sampled} ${model.version}`;
      if (now === key) return;
      key = now;
      if (made) body.replaceChildren(h("p.hx-proof-said", PROOF.simulated));
      else body.replaceChildren(sampled ? drawing.el : linesView(model, ctx.player));
    },
    key: (/** @type {string} */ name) => Boolean(model?.header) && !isGreedy(model) && drawing.key(name),
  };
}
