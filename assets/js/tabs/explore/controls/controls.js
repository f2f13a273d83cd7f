/** The prompt row: prompt, Generate or Stop, examples, recordings, settings. */

import { arrows, h, icon, popover, say } from "../../../shared/kit/dom.js";
import { promptSize } from "./prompt-size.js";
import { recordingsMenu } from "./recordings.js";
import { settingsPanel } from "./settings.js";
import { PROMPT } from "../../../../text/en/run.js";

/** The place of the prompt row where nothing can be run. */
export function noPromptRow() {
  return { el: h("div", { hidden: true }), show() {}, busy() {}, close() {} };
}

/** The prompt row. */
export function promptRow(ctx) {
  const { setup, settings } = ctx;
  const prompt = h("textarea", {
    class: "hx-prompt",
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
  const go = h(
    "button",
    { type: "button", class: "hx-go", "aria-describedby": "hx-go-why", onclick: () => ctx.onGo() },
    h("span", { text: PROMPT.generate }),
  );
  const before = h("span");
  const rest = h("span", { class: "hx-go-rest" });
  const line = h("small", { class: "hx-go-line", hidden: true }, before, rest);
  go.append(line);
  const why = h("span", { class: "hx-sr", id: "hx-go-why" }); // an empty prompt says it to the eye
  const examples = menu("examples", PROMPT.examples, [
    ...setup.examples.map((e) => ({ title: e.title, note: e.note, pick: () => ctx.onExample(e) })),
    ...(setup.longTexts ?? []).map((e) => {
      const disabled = e.characters > setup.limits.prompt;
      const note = disabled ? `${e.note}; ${PROMPT.tooLong}` : e.note;
      return { title: e.title, note, disabled, pick: () => ctx.onLongText(e.name) };
    }),
  ]);
  const tries = h(
    "div",
    { class: "hx-try", role: "group", "aria-label": PROMPT.tryLabel },
    h("span", { "aria-hidden": "true", text: PROMPT.try }),
    ...setup.examples
      .filter((e) => e.first)
      .map((e) =>
        h("button", {
          type: "button",
          "data-tip": PROMPT.tryTip(e.prompt),
          onclick: () => ctx.onTry(e),
          text: e.title,
        }),
      ),
  );
  tries.hidden = Boolean(setup.static) || tries.childElementCount < 2;
  const recordings = recordingsMenu({
    recordings: setup.recordings,
    shown: ctx.shown,
    onPick: ctx.onRecording,
  });
  const panel = settingsPanel(ctx);
  const more = popover(
    h(
      "button",
      {
        type: "button",
        class: "hx-icon-button hx-open-settings",
        "aria-label": PROMPT.settings,
        "data-tip": PROMPT.settings,
      },
      icon("more"),
    ),
    panel.el,
    { label: PROMPT.settings, onOpen: () => panel.show(settings) },
  );
  const el = h(
    "div",
    { class: "hx-prompt-row", role: "form", "aria-label": PROMPT.form },
    h("div", { class: "hx-prompt-field" }, prompt, size.el),
    tries,
    h("div", { class: "hx-actions" }, go, why, examples.el, recordings.el, more.el),
  );
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
     *  `pace`: who comes before it. */
    busy(state, reason = "", first = "", /** @type {import("../../../shared/visit/pace.js").Pace|null} */ pace = null) {
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

function menu(name, title, items) {
  const list = h("ul", { class: "hx-menu" });
  const button = h(
    "button",
    { type: "button", class: `hx-quiet hx-${name}` },
    h("span", { text: title }),
    icon("down"),
  );
  const pop = popover(button, list, { label: title, onOpen: () => list.querySelector("button")?.focus() });
  for (const item of items) {
    list.append(
      h(
        "li",
        {},
        h(
          "button",
          {
            type: "button",
            class: "hx-item",
            "aria-disabled": item.disabled ? "true" : null,
            onclick: () => {
              if (item.disabled) return;
              pop.close();
              button.focus();
              item.pick();
            },
          },
          h("span", { class: "hx-item-title", text: item.title }),
          h("span", { class: "hx-item-note", text: item.note }),
        ),
      ),
    );
  }
  arrows(list, "button");
  return pop;
}
