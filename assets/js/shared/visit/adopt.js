/** What a run that was recorded brings into the settings, unless the address asked for others. */

import { promptText } from "../run/prompt.js";

/**
 * @param {{settings: Record<string, any>, asked: Record<string, any>, setup: any, tower: any, preset: any}} wish
 * @param {import("../run/trace.js").TraceModel} model
 */
export function adopt(wish, model) {
  const { settings, asked, setup, tower } = wish;
  /** @type {any} */ const header = model.header;
  if (!header.simulated && !asked.simulated) settings.simulated = "";
  if (!asked.preset && setup.catalogue.some((/** @type {{name: string}} */ p) => p.name === header.preset))
    settings.preset = header.preset;
  tower.setPreset(wish.preset);
  const own = settings.preset === header.preset || !asked.preset;
  if (!asked.stack) tower.setStack(own ? header.stack : (wish.preset?.default_stack ?? header.stack));
  settings.stack = tower.stack;
  const { text, raw } = promptText(model);
  if (header.simulated) {
    // It brings its stack and the words before its text; the settings stay the visitor's.
    if (!asked.prompt) settings.prompt = text;
    return;
  }
  if (!asked.prompt && text)
    Object.assign(settings, { prompt: text, raw: asked.raw ?? (raw && header.preset !== "toy") });
  settings.replan = asked.replan ?? Boolean(header.replan);
  const { sampling, seed, max_new_tokens } = header;
  for (const [name, value] of Object.entries({ ...sampling, seed, max_new_tokens })) {
    const limits = setup.limits[name];
    if (!Array.isArray(limits) || !Number.isFinite(value) || asked[name] !== undefined) continue;
    settings[name] = Math.min(limits[1], Math.max(limits[0], Number(value)));
  }
}
