/** What stacks would cost by the theory, looked up where it was worked out ahead (app/site/prices_ahead.py). */

/** @typedef {import("../tabs/explore/tower/forecast/forecast.js").Price} Price */
/** @typedef {{preset: string, temperature?: number, about: any, prices: Record<string, Price>,
 *   by_length?: Record<string, Price>, others?: Price}} Known by_length: stacks that are compared at the length of a text */

/**
 * The answer to what the tower asks of a server.
 * @param {{known: Known[], others: Price}} ahead
 * @param {{preset: string, device: string, temperature: number, stacks: string[], by_length?: boolean}} question
 */
export function priced({ known, others }, { preset, device, temperature, stacks, by_length: all }) {
  const here = (/** @type {Known} */ one) => (one.temperature ?? temperature) === temperature;
  const found = ["", "cpu"].includes(device) ? known.find((one) => one.preset === preset && here(one)) : undefined;
  return {
    about: found?.about ?? null,
    prices: stacks.map((stack) => (all ? found?.by_length : found?.prices)?.[stack] ?? found?.others ?? others),
  };
}
