/** The settings popover: what the run may do, and how it is shown. */

import { h } from "./dom.js";

const COLOURS = {
  level: "level that supplied it",
  passed: "highest level that accepted it",
  source: "database or depth",
  time: "time",
};

/** @returns {{el: HTMLElement, show: (settings: Record<string, any>) => void}} */
export function settingsPanel(ctx) {
  const { setup } = ctx;
  const inputs = {};
  const edit = (name, value) => ctx.onEdit(name, value);
  const keep = (name, input) => {
    inputs[name] = input;
    return input;
  };

  const pick = (name, label, options, tip) =>
    field(
      label,
      tip,
      keep(
        name,
        h(
          "select",
          {
            class: "hx-select",
            onchange: (event) => edit(name, event.target.value),
          },
          ...options.map(([value, text, reason, off = reason]) =>
            h("option", { value, text: reason ? `${text}: ${reason}` : text, disabled: Boolean(off) }),
          ),
        ),
      ),
    );

  const figure = (name, label, step, tip) => {
    const [low, high] = setup.limits[name];
    return field(
      label,
      tip,
      keep(
        name,
        h("input", {
          class: "hx-input",
          type: "number",
          min: low,
          max: high,
          step,
          onchange: (event) => {
            const asked = Number(event.target.value);
            const value = Math.min(
              high,
              Math.max(low, Number.isFinite(asked) && event.target.value !== "" ? asked : setup.defaults[name]),
            );
            event.target.value = String(value);
            edit(name, value);
          },
        }),
      ),
    );
  };

  const tick = (name, label, tip) =>
    h(
      "label",
      { class: "hx-tick", "data-tip": tip },
      keep(
        name,
        h("input", {
          type: "checkbox",
          onchange: (event) => edit(name, event.target.checked),
        }),
      ),
      h("span", { text: label }),
    );

  const presets = setup.catalogue.map((p) => [
    p.name,
    p.title,
    p.usable ? p.reason : p.reason || "cannot be used here",
    !p.usable,
  ]);
  const device = pick("device", "device", [["", "whichever is best"]], "where the levels run");
  const el = h(
    "div",
    { class: "hx-settings" },
    group("Model", pick("preset", "preset", presets, "which weights"), device),
    group(
      "Sampling",
      figure("temperature", "temperature", "0.1", "0 is greedy: always the likeliest token"),
      figure("top_k", "top-k", "1", "keep the k likeliest tokens; 0 keeps all"),
      figure("top_p", "top-p", "0.05", "keep the smallest set of tokens with this much probability"),
      figure("seed", "seed", "1", "the same seed gives the same run"),
      figure("max_new_tokens", "new tokens", "1", "at most this many"),
    ),
    group(
      "Run",
      tick(
        "baseline",
        "measure plain decoding too",
        "decode the same prompt with the target alone after the run, so that the speed-up is measured",
      ),
      tick(
        "replan",
        "auto: re-plan while generating",
        "the tower lists candidates; which of them run, and with which T, is chosen anew between rounds, from a measured profile and from what the rounds before accepted",
      ),
      tick(
        "depths",
        "measure depths after the run",
        "one more pass over the text: what every layer would have said at each place (\u201cAt which layer did the model know?\u201d, below)",
      ),
      tick("raw", "raw prompt", "without the model's chat template"),
      pick(
        "detail",
        "record",
        [
          ["full", "everything"],
          ["light", "without probability rows"],
        ],
        "what the trace keeps for each token",
      ),
    ),
    group(
      "View",
      pick("colour", "colour by", Object.entries(COLOURS), "what a token's colour says"),
      pick(
        "ghosts",
        "rejected drafts",
        [
          ["show", "shown, struck out"],
          ["hide", "hidden"],
        ],
        "drafts that a level rejected",
      ),
    ),
  );
  return {
    el,
    show(settings) {
      const preset = setup.catalogue.find((p) => p.name === settings.preset);
      const devices = preset?.devices ?? [];
      inputs.device.replaceChildren(
        h("option", { value: "", text: "whichever is best" }),
        ...devices.map((d) =>
          h("option", { value: d.name, text: d.usable ? d.name : `${d.name}: ${d.reason}`, disabled: !d.usable }),
        ),
      );
      for (const [name, input] of Object.entries(inputs)) {
        if (input.type === "checkbox") input.checked = settings[name];
        else if (document.activeElement !== input) input.value = String(settings[name] ?? "");
      }
    },
  };
}

function field(label, tip, input) {
  return h("label", { class: "hx-field", "data-tip": tip }, h("span", { text: label }), input);
}

function group(title, ...children) {
  return h("fieldset", { class: "hx-group" }, h("legend", { text: title }), ...children);
}
