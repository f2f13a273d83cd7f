/** The settings popover: what the run may do. How it is shown is chosen beside the text. */

import { h } from "../../../shared/kit/dom.js";
import { typedNumber } from "../../../shared/levels/typed-number.js";
import { SETTINGS } from "../../../../text/en/run.js";

/** @import {Preset} from "../../../shared/levels/stack.js" */

/** @typedef {{setup: Record<string, any>, onEdit: (name: string, value: any) => void, onTell: (text: string) => void}} Context */

/** @returns {{el: HTMLElement, show: (settings: Record<string, any>) => void}} @param {Context} ctx */
export function settingsPanel(ctx) {
  const { setup } = ctx;
  /** @type {Record<string, HTMLInputElement|HTMLSelectElement>} */ const inputs = {};
  const edit = (/** @type {string} */ name, /** @type {unknown} */ value) => ctx.onEdit(name, value);
  const keep = (/** @type {string} */ name, /** @type {HTMLInputElement|HTMLSelectElement} */ input) => {
    inputs[name] = input;
    return input;
  };

  const pick = (/** @type {string} */ name, /** @type {string[]} */ [label, tip], /** @type {string[][]} */ options) =>
    field(
      label,
      tip,
      keep(
        name,
        h("select.hx-select", { onchange: (event) => edit(name, event.currentTarget.value) }, [
          options.map(([value, text]) => h("option", { value, text })),
        ]),
      ),
    );

  const figure = (/** @type {string} */ name, /** @type {string[]} */ [label, tip], /** @type {string} */ step) => {
    const [low, high] = setup.limits[name];
    return field(
      label,
      tip,
      keep(
        name,
        h("input.hx-input", {
          type: "number",
          min: low,
          max: high,
          step,
          onchange: (event) => {
            const { value: asked, said } = typedNumber(
              event.currentTarget.value,
              { low, high, step: Number(step) },
              label,
            );
            const value = asked ?? setup.defaults[name]; // an empty field stands for the usual one
            if (said && asked !== null) ctx.onTell(said);
            event.currentTarget.value = String(value);
            edit(name, value);
          },
        }),
      ),
    );
  };

  const tick = (/** @type {string} */ name, /** @type {string[]} */ [label, tip]) =>
    h("label.hx-tick", { "data-tip": tip }, [
      keep(name, h("input", { type: "checkbox", onchange: (event) => edit(name, event.currentTarget.checked) })),
      h("span", label),
    ]);

  const unusable = h("div");
  const device = pick("device", SETTINGS.device, [["", SETTINGS.anyDevice]]);
  const el = h("div.hx-settings", [
    group(SETTINGS.groups.model, pick("preset", SETTINGS.preset, []), device, unusable),
    group(
      SETTINGS.groups.sampling,
      figure("temperature", SETTINGS.temperature, "0.1"),
      figure("top_k", SETTINGS.topK, "1"),
      figure("top_p", SETTINGS.topP, "0.05"),
      figure("seed", SETTINGS.seed, "1"),
      figure("max_new_tokens", SETTINGS.newTokens, "1"),
    ),
    group(
      SETTINGS.groups.run,
      tick("baseline", SETTINGS.baseline),
      tick("replan", SETTINGS.replan),
      tick("depths", SETTINGS.depths),
      tick("raw", SETTINGS.raw),
      pick("detail", SETTINGS.detail, Object.entries(SETTINGS.details)),
    ),
  ]);
  return {
    el,
    show(settings) {
      /** @type {Preset[]} */ const catalogue = setup.catalogue;
      const preset = catalogue.find((p) => p.name === settings.preset);
      if (document.activeElement !== inputs.preset) inputs.preset.replaceChildren(...presetChoices(catalogue));
      tellUnusable(unusable, catalogue);
      const devices = preset?.devices ?? [];
      inputs.device.replaceChildren(
        h("option", { value: "", text: SETTINGS.anyDevice }),
        ...devices.map((d) =>
          h("option", { value: d.name, text: d.usable ? d.name : `${d.name}: ${d.reason}`, disabled: !d.usable }),
        ),
      );
      for (const [name, input] of Object.entries(inputs)) {
        if (input instanceof HTMLInputElement && input.type === "checkbox") input.checked = settings[name];
        else if (document.activeElement !== input) input.value = String(settings[name] ?? "");
      }
    },
  };
}

/** The presets, and below them the targets that the operator named. @param {Preset[]} catalogue */
function presetChoices(catalogue) {
  const choice = (/** @type {Preset} */ p) => {
    const reason = (p.reason || (p.usable ? "" : SETTINGS.off)).split("; ")[0]; // the cure stands below the field
    return h("option", { value: p.name, text: reason ? `${p.title}: ${reason}` : p.title, disabled: !p.usable });
  };
  const presets = catalogue.filter((p) => !p.target).map(choice);
  const targets = catalogue.filter((p) => p.target).map(choice);
  if (!targets.length) return presets;
  return [h("optgroup", { label: SETTINGS.presets }, presets), h("optgroup", { label: SETTINGS.targets }, targets)];
}

/** Why some of them cannot be used, with what helps. @param {HTMLElement} el @param {Preset[]} catalogue */
function tellUnusable(el, catalogue) {
  const off = catalogue.filter((p) => !p.usable);
  const open = el.querySelector("details")?.open ?? false;
  const why = (/** @type {Preset} */ p) => h("p.hx-item-note", [h("b", p.title), ` ${p.reason}`]);
  const list = h("details.hx-why-not", [h("summary", SETTINGS.whyNot(off.length)), off.map(why)]);
  list.open = open;
  el.replaceChildren(...(off.length ? [list] : []));
}

function field(/** @type {string} */ label, /** @type {string} */ tip, /** @type {HTMLElement} */ input) {
  return h("label.hx-field", { "data-tip": tip }, [h("span", label), input]);
}

function group(/** @type {string} */ title, /** @type {Node[]} */ ...children) {
  return h("fieldset.hx-group", [h("legend", title), children]);
}
