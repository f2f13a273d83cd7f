/** The button in the title bar that leads back to a run which goes on, or ended, while something else is shown. */

import { h, say } from "../kit/dom.js";
import { ASIDE } from "../../../text/en/page.js";

export class Aside {
  /** @param {(run: string) => void} onReturn */
  constructor(onReturn) {
    /** @type {string|null} */ this.run = null;
    this.el = h("button", {
      type: "button",
      class: "hx-quiet hx-aside",
      "data-tip": ASIDE.tip,
      hidden: true,
      onclick: () => this.run && onReturn(this.run),
    });
  }

  /** @param {string} run @param {string} how it goes */
  show(run, how) {
    this.run = run;
    say(this.el, ASIDE.back(how));
    this.el.hidden = false;
  }

  hide() {
    this.run = null;
    this.el.hidden = true;
  }
}
