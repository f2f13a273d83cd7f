/** The button in the title bar that leads back to a run which goes on, or ended, while something else is shown. */

import { h, say } from "./dom.js";

export class Aside {
  /** @param {(run: string) => void} onReturn */
  constructor(onReturn) {
    /** @type {string|null} */ this.run = null;
    this.el = h("button", {
      type: "button",
      class: "hx-quiet hx-aside",
      "data-tip": "shows it again; what is shown now stays in the browser's history",
      hidden: true,
      onclick: () => this.run && onReturn(this.run),
    });
  }

  /** @param {string} run @param {"begins"|"goes on"|"is done"} how */
  show(run, how) {
    this.run = run;
    say(this.el, `Your run ${how}: return to it`);
    this.el.hidden = false;
  }

  hide() {
    this.run = null;
    this.el.hidden = true;
  }
}
