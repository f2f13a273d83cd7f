/** What stands around the steps of a lesson: its title above, what leads on below. */

import { h, icon, say } from "../../shared/kit/dom.js";
import { presenterButton } from "../../shared/player/presenter.js";
import { WORDS } from "../../../text/en/learn.js";

/**
 * @param {{onClose: () => void, onPrint: () => void, onGo: (direction: 1|-1) => void, onBack: () => void}} ctx onBack: to the lesson's run
 */
export function createHead({ onClose, onPrint, onGo, onBack }) {
  /** @param {string} text @param {() => void} onclick */
  const button = (text, onclick) => h("button", { type: "button", class: "hx-quiet", text, onclick });
  const kicker = h("p", { class: "hx-lesson-kicker" });
  const title = h("h1", { class: "hx-lesson-title" });
  const folds = h(
    "button",
    { type: "button", class: "hx-icon-button hx-lesson-fold", "aria-expanded": "true", onclick: () => fold() },
    icon("down"),
  );
  folds.setAttribute("aria-label", WORDS.fold);
  const drift = h(
    "p",
    { class: "hx-lesson-drift", hidden: true },
    h("span", { text: WORDS.drift }),
    button(WORDS.goBack, onBack),
  );
  /** @param {Parameters<typeof icon>[0]} sign @param {string} text @param {() => void} onclick */
  const small = (sign, text, onclick) =>
    h("button", { type: "button", class: "hx-icon-button", "aria-label": text, "data-tip": text, onclick }, icon(sign));
  const head = h(
    "header",
    { class: "hx-lesson-head" },
    h("div", {}, kicker, title),
    small("print", WORDS.print, onPrint),
    presenterButton(),
    folds,
    small("remove", WORDS.close, onClose),
  );
  const back = button(WORDS.back, () => onGo(-1));
  const next = h("button", { type: "button", class: "hx-quiet hx-lesson-next", onclick: () => onGo(1) });
  const dots = h("span", { class: "hx-lesson-dots", "aria-hidden": "true" });
  const foot = h("footer", { class: "hx-lesson-foot" }, back, dots, next);

  /** Beside Explore on a narrow window the lesson is a sheet that may be folded. */
  function fold(/** @type {boolean|undefined} */ to = undefined) {
    const folded = head.parentElement?.classList.toggle("hx-folded", to) ?? false;
    folds.setAttribute("aria-expanded", String(!folded));
    folds.setAttribute("aria-label", folded ? WORDS.unfold : WORDS.fold);
  }

  return {
    head,
    drift,
    foot,
    unfold: () => fold(false),
    /**
     * @param {import("./figures/figure-parts.js").Lesson} lesson @param {number} step @param {number} pages @param {string} after what leads on from the end
     * @param {boolean} held whether a class leads
     */
    show(lesson, step, pages, after, held) {
      say(kicker, WORDS.kicker(lesson.number, step, pages, lesson.minutes));
      say(title, lesson.title);
      back.toggleAttribute("disabled", step === 1 && !held);
      say(next, step < pages || held ? WORDS.next : after);
      dots.replaceChildren(
        ...Array.from({ length: pages }, (_, i) => h("i", { "data-at": i + 1 === step ? "here" : "" })),
      );
    },
  };
}
