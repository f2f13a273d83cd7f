/** The prompt row: prompt, Generate or Stop, examples, recordings, settings. */

import { arrows, h, icon, popover, say } from "../../../shared/kit/dom.js";
import { recordingsMenu } from "./recordings.js";
import { settingsPanel } from "./settings.js";
import { PROMPT } from "../../../../text/en/run.js";

/** The place of the prompt row where nothing can be run. */
export function noPromptRow() {
  return { el: h("div", { hidden: true }), show() {}, busy() {}, close() {} };
}

/** @typedef {{title: string, note: string, prompt: string, first?: boolean}} Example as app/tabs/explore/examples.py has it */
/** @typedef {{title: string, note: string, disabled?: boolean, pick: () => void}} Item */
/** @typedef {import("./settings.js").Context & {settings: Record<string, any>, shown: () => string|null, onGo: () => void, onExample: (example: Example) => void,
 *    onLongText: (name: string) => void, onTry: (example: Example) => void, onRecording: (name: string) => void}} Context
 */

/** The prompt row. @param {Context} ctx */
export function promptRow(ctx) {
  const { setup, settings } = ctx;
  /** @type {Example[]} */ const ready = setup.examples;
  const prompt = h("textarea.hx-prompt", {
    rows: "2",
    spellcheck: "false",
    id: "hx-prompt",
    placeholder: PROMPT.placeholder,
    "aria-label": PROMPT.label,
    oninput: () => {
      ctx.onEdit("prompt", prompt.value);
      size.show();
    },
  });
  const size = promptSize(prompt, setup.limits.prompt, setup.promptTokens ?? null);
  const go = h("button.hx-go", { "aria-describedby": "hx-go-why", onclick: () => ctx.onGo() }, [
    h("span", PROMPT.generate),
  ]);
  const before = h("span");
  const rest = h("span.hx-go-rest");
  const line = h("small.hx-go-line", { hidden: true }, [before, rest]);
  go.append(line);
  const why = h("span.hx-sr", { id: "hx-go-why" }); // an empty prompt says it to the eye
  const examples = menu("examples", PROMPT.examples, [
    ...ready.map((e) => ({ title: e.title, note: e.note, pick: () => ctx.onExample(e) })),
    ...(setup.longTexts ?? []).map(
      (/** @type {{name: string, title: string, note: string, characters: number}} */ e) => {
        const disabled = e.characters > setup.limits.prompt;
        const note = disabled ? `${e.note}; ${PROMPT.tooLong}` : e.note;
        return { title: e.title, note, disabled, pick: () => ctx.onLongText(e.name) };
      },
    ),
  ]);
  const tries = h("div.hx-try", { role: "group", "aria-label": PROMPT.tryLabel }, [
    h("span", { "aria-hidden": "true", text: PROMPT.try }),
    ready
      .filter((e) => e.first)
      .map((e) => h("button", { "data-tip": PROMPT.tryTip(e.prompt), onclick: () => ctx.onTry(e), text: e.title })),
  ]);
  tries.hidden = Boolean(setup.static) || tries.childElementCount < 2;
  const recordings = recordingsMenu({
    recordings: setup.recordings,
    shown: ctx.shown,
    onPick: ctx.onRecording,
  });
  const panel = settingsPanel(ctx);
  const more = popover(
    h("button.hx-icon-button.hx-open-settings", { "aria-label": PROMPT.settings, "data-tip": PROMPT.settings }, [
      icon("more"),
    ]),
    panel.el,
    { label: PROMPT.settings, onOpen: () => panel.show(settings) },
  );
  const el = h("div.hx-prompt-row", { role: "form", "aria-label": PROMPT.form }, [
    h("div.hx-prompt-field", [prompt, size.el]),
    tries,
    h("div.hx-actions", [go, why, examples.el, recordings.el, more.el]),
  ]);
  el.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      ctx.onGo();
    }
  });
  return {
    el,
    show() {
      if (prompt.value !== settings.prompt) prompt.value = settings.prompt;
      size.show();
      panel.show(settings);
    },
    /** `state`: idle | busy | stopping; `reason` greys the button and says why; `first` is what a run needs first;
     *  `pace`: who comes before it. @param {"idle"|"busy"|"stopping"} state */
    busy(
      state,
      reason = "",
      first = "",
      /** @type {import("../../../shared/visit/offered.js").Pace|null} */ pace = null,
    ) {
      const { ahead, answers } = pace ?? { ahead: 0, answers: null };
      const waits = state === "idle" && !reason && ahead > 0;
      line.hidden = !waits;
      say(before, waits ? PROMPT.before(ahead) : "");
      say(rest, waits ? PROMPT.pace(answers) : "");
      say(go.firstChild, { idle: PROMPT.generate, busy: PROMPT.stop, stopping: PROMPT.stopping }[state]);
      say(why, state === "idle" ? reason : "");
      go.dataset.state = state;
      const off = (state === "idle" && reason) || state === "stopping";
      if (off) go.setAttribute("aria-disabled", "true");
      else go.removeAttribute("aria-disabled");
      go.dataset.tip =
        (state === "idle" && reason) ||
        {
          idle: [PROMPT.generateTip, first, waits && PROMPT.before(ahead) + PROMPT.pace(answers)]
            .filter(Boolean)
            .join("; "),
          busy: PROMPT.stopTip,
          stopping: PROMPT.stoppingTip,
        }[state];
    },
    close() {
      for (const one of [examples, recordings, more]) one.close();
    },
  };
}

function menu(/** @type {string} */ name, /** @type {string} */ title, /** @type {Item[]} */ items) {
  const list = h("ul.hx-menu");
  const button = h("button", { class: `hx-quiet hx-${name}` }, [h("span", title), icon("down")]);
  const pop = popover(button, list, { label: title, onOpen: () => list.querySelector("button")?.focus() });
  for (const item of items) {
    list.append(
      h("li", [
        h(
          "button.hx-item",
          {
            "aria-disabled": item.disabled ? "true" : null,
            onclick: () => {
              if (item.disabled) return;
              pop.close();
              button.focus();
              item.pick();
            },
          },
          [h("span.hx-item-title", item.title), h("span.hx-item-note", item.note)],
        ),
      ]),
    );
  }
  arrows(list, "button");
  return pop;
}

// ---- The mark beside the text's title: what is shown was written for another prompt than the one in the box.

/** @returns {{el: HTMLElement, show: (asked: string, shown: string|null, invite: string) => void}} */
export function otherPrompt() {
  const el = h("span.hx-other-prompt", { tabindex: "0", hidden: true, text: PROMPT.other });
  return {
    el,
    /** @param {string} asked in the box @param {string|null} shown the run's, null where it is not known */
    show(/** @type {string} */ asked, /** @type {string|null} */ shown, /** @type {string} */ invite) {
      el.hidden = shown === null || asked.trim() === shown.trim();
      el.dataset.tip = el.hidden ? "" : PROMPT.otherTip(brief(shown ?? ""), invite);
    },
  };
}

const brief = (/** @type {string} */ text) => {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 160 ? `${line.slice(0, 160)}\u2026` : line;
};

// ---- What stands below a long prompt: how long it is, or that it is too long, and a button that unfolds the field and folds
// it again.

export const LONG = 2000; // characters; a shorter prompt says nothing of its length
const A_TOKEN = 4; // characters, about: the server counts

/** How long a prompt is, in words; "" for a short one.
 *  @param {string} text @param {number|null} most tokens that are read here, where it is known */
export function sizeText(text, most = null) {
  if (text.length <= LONG) return "";
  return PROMPT.size(text.length, Math.round(text.length / A_TOKEN), most);
}

/** @param {HTMLTextAreaElement} field @param {number} limit characters @param {number|null} most see `sizeText` */
export function promptSize(field, limit, most) {
  const said = h("span", { id: "hx-prompt-size" });
  const fold = h("button.hx-link.hx-prompt-fold", {
    "aria-controls": field.id,
    onclick: () => set(field.dataset.open === undefined),
  });
  const el = h("p.hx-prompt-size", { hidden: true }, [said, fold]);

  function set(/** @type {boolean} */ open) {
    if (open) field.dataset.open = "";
    else delete field.dataset.open;
    fold.setAttribute("aria-expanded", String(open));
    say(fold, open ? PROMPT.fold : PROMPT.unfold);
  }
  set(false);
  return {
    el,
    show() {
      const over = PROMPT.over(field.value, limit);
      const text = over || sizeText(field.value, most);
      el.classList.toggle("hx-over", Boolean(over));
      if (!text && !el.hidden) set(false);
      el.hidden = !text;
      say(said, text);
      if (text) field.setAttribute("aria-describedby", said.id);
      else field.removeAttribute("aria-describedby");
    },
  };
}
