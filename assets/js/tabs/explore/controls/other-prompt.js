/** The mark beside the text's title: what is shown was written for another prompt than the one in the box. */

import { h } from "../../../shared/kit/dom.js";
import { PROMPT } from "../../../../text/en/run.js";

/** @returns {{el: HTMLElement, show: (asked: string, shown: string|null, invite: string) => void}} */
export function otherPrompt() {
  const el = h("span", { class: "hx-other-prompt", tabindex: "0", hidden: true, text: PROMPT.other });
  return {
    el,
    /** @param {string} asked in the box @param {string|null} shown the run's, null where it is not known */
    show(asked, shown, invite) {
      el.hidden = shown === null || asked.trim() === shown.trim();
      el.dataset.tip = el.hidden ? "" : PROMPT.otherTip(brief(shown), invite);
    },
  };
}

const brief = (text) => {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 160 ? `${line.slice(0, 160)}\u2026` : line;
};
