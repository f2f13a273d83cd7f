/** The one big figure: how many times as fast as plain decoding the run is, up to the moment that is shown. Where plain
 *  decoding was not measured, or not yet, tokens/s stand in its place. */

import { term } from "../../../shared/glossary/term.js";
import { clockOf } from "../../../shared/levels/overlap.js";
import { plainSpeed, speedUp } from "../../../shared/run/figures.js";
import { h, say } from "../../../shared/kit/dom.js";
import { ofRun, stated } from "../../../shared/levels/stated.js";
import { ratio, rounded } from "../../../../text/numbers.js";
import { HEADLINE } from "../../../../text/en/lanes.js";

export function headline() {
  const value = h("b", { class: "hx-headline-value", text: "\u2013" });
  const unit = h("span");
  const gain = term("speedup", HEADLINE.gain);
  const measure = h("span", { class: "hx-headline-unit" }, gain, unit);
  const against = h("span", { class: "hx-headline-against" });
  const where = h("span", { class: "hx-headline-where" });
  const words = h("span", { class: "hx-headline-words" }, measure, against, where);
  const el = h("p", { class: "hx-headline", tabindex: "0", "data-tip": HEADLINE.formula }, value, words);
  return {
    el,
    /** `waiting`: plain decoding is being measured. */
    update(model, cursor, waiting) {
      const now = model.snapshotAt(cursor)?.tokens_per_s ?? null;
      const plain = plainSpeed(model.baseline);
      const clock = clockOf(model.header);
      say(where, model.header && clock !== "simulated" ? HEADLINE.where(model.header.machine ?? "") : "");
      if (plain === null) {
        say(value, now === null ? "\u2013" : speed(now));
        gain.hidden = true;
        say(unit, clock ? HEADLINE.rateOf[clock] : HEADLINE.rate);
        say(against, waiting ? HEADLINE.waiting : alone(model));
        return;
      }
      const gained = speedUp(model, cursor);
      if (gained !== null && cursor >= model.end && model.footer) {
        stated("speed_up", ofRun(model.header), ratio(gained));
        stated("tokens_per_s", ofRun(model.header), speed(now));
        stated("plain_tokens_per_s", ofRun(model.header), speed(plain));
      }
      say(value, gained === null ? "\u2013" : `${ratio(gained)}\u00d7`);
      gain.hidden = clock !== "";
      say(unit, clock ? HEADLINE.gainOf[clock] : "");
      say(against, HEADLINE.against(now === null ? "\u2013" : speed(now), speed(plain)));
    },
  };
}

function alone({ footer, header }) {
  if (header?.levels.length === 1) return HEADLINE.itself;
  return footer ? HEADLINE.none : HEADLINE.later;
}

const speed = (value) => rounded(value);
