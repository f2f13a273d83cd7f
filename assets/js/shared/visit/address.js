/** Settings in the page's address: read once on load, written by replaceState on every change. */

export const LONGEST_PROMPT = 1500;

/** @typedef {Record<string, (text: string) => string | number | boolean | undefined>} Fields by setting: what its text
 *    says, undefined where that is not valid */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Settings */

/** The settings that an address may name.
 *  @param {{prompt: number} & Record<string, any>} limits the server's: the longest prompt, [low, high] of each number
 *  @returns {Fields} */
export function fields(limits) {
  /** @type {(name: string, whole: boolean) => (text: string) => number | undefined} */
  const figure = (name, whole) => (text) => {
    const [low, high] = limits[name];
    const value = Number(text);
    const fits =
      text.trim() !== "" &&
      Number.isFinite(value) &&
      value >= low &&
      value <= high &&
      (!whole || Number.isInteger(value));
    return fits ? value : undefined;
  };
  /** @param {string} text */
  const flag = (text) => (text === "1" ? true : text === "0" ? false : undefined);
  /** @type {(...names: string[]) => (text: string) => string | undefined} */
  const one =
    (...names) =>
    (text) =>
      names.includes(text) ? text : undefined;
  /** @type {(longest: number) => (text: string) => string | undefined} */
  const short = (longest) => (text) => (text.length <= longest ? text : undefined);
  return {
    preset: short(80),
    stack: short(400),
    recording: short(200),
    simulated: short(80),
    prompt: short(limits.prompt),
    device: short(20),
    temperature: figure("temperature", false),
    top_k: figure("top_k", true),
    top_p: figure("top_p", false),
    seed: figure("seed", true),
    max_new_tokens: figure("max_new_tokens", true),
    raw: flag,
    baseline: flag,
    depths: flag,
    replan: flag,
    detail: one("full", "light"),
    ghosts: one("show", "hide"),
    colour: one("level", "passed", "source", "time"),
    pause: flag,
    present: flag,
  };
}

/** What the address asks for: {given: {name: value}, refused: ["top_p=7", ...]}.
 *  @param {string} search @param {Fields} known */
export function read(search, known) {
  /** @type {Record<string, any>} */
  const given = {};
  /** @type {string[]} */
  const refused = [];
  for (const [name, text] of new URLSearchParams(search)) {
    if (!Object.hasOwn(known, name)) continue; // not ours: Gradio and Spaces keep their own parameters
    const value = known[name](text);
    if (value === undefined) refused.push(`${name}=${text.slice(0, 40)}`);
    else given[name] = value;
  }
  return { given, refused };
}

/** The query for these settings; what equals its default is left out, parameters that are not ours stay.
 *  @param {string} search @param {Settings} settings @param {Settings} defaults @param {Fields} known */
export function write(search, settings, defaults, known) {
  const query = new URLSearchParams(search);
  for (const name of Object.keys(known)) {
    const value = settings[name];
    const plain = value === undefined || value === null || value === "" || value === defaults[name];
    if (plain || (name === "prompt" && String(value).length > LONGEST_PROMPT)) query.delete(name);
    else query.set(name, typeof value === "boolean" ? String(+value) : String(value));
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}
