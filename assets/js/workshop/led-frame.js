/** The bar at the bottom of every page of a class: one line, what can be done, and above it what was answered. */

import { h, say } from "../shared/kit/dom.js";
import { WORKSHOP } from "../../text/en/workshop.js";

export class Frame {
  constructor() {
    this.line = h("p.hx-room-line", { role: "status", "aria-live": "polite" });
    this.aside = h("span.hx-room-aside"); // changes often, and is not read out
    this.doing = h("div.hx-room-do");
    this.counted = h("summary");
    this.bars = h("div.hx-room-bars");
    this.card = /** @type {HTMLDetailsElement} */ (
      h("details.hx-room-card", { hidden: true }, [this.counted, this.bars])
    );
    this.el = h("section.hx-room", { "aria-label": WORKSHOP.label }, [this.card, this.line, this.aside, this.doing]);
    document.body.append(this.el);
    new ResizeObserver(() =>
      document.documentElement.style.setProperty("--answers", `${this.card.offsetHeight}px`),
    ).observe(this.card);
  }

  /** The line, which a screen reader reads out; `kind` "led" stands out. @param {string} text @param {string} [kind] */
  tell(text, kind = "") {
    say(this.line, text);
    this.line.title = text; // where it is cut off
    this.line.dataset.kind = kind;
  }

  /** The controls, unless they are there. @param {HTMLElement[]} parts */
  controls(...parts) {
    if (parts.length === this.doing.children.length && parts.every((part, i) => part === this.doing.children[i]))
      return;
    this.doing.replaceChildren(...parts);
  }

  /** What was answered, above the bar; null for nothing. @param {{said: string, bars: HTMLElement[]}|null} shown */
  answers(shown) {
    if (shown && this.card.hidden) this.card.open = true;
    this.card.hidden = !shown;
    if (!shown) return;
    say(this.counted, shown.said);
    this.bars.replaceChildren(...shown.bars);
  }
}

/** A button of the bar. @param {string} text @param {() => void} onclick @param {string} [kind] */
export const barButton = (text, onclick, kind = "") => h("button.hx-room-button", { "data-kind": kind, text, onclick });

/** Puts a text into the bar, and what stands for it on a phone. @param {HTMLElement} at @param {string} long @param {string} short */
export function fit(at, long, short) {
  if (!at.children.length) at.append(h("span.hx-room-wide"), h("span.hx-room-narrow"));
  const [wide, narrow] = [...at.children];
  say(wide, long);
  say(narrow, short);
  return at;
}
