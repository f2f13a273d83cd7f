/** Settings in the page's address: read once on load, written by replaceState on every change. */

const LONGEST_PROMPT = 1500;

/** Per setting: how to read its text (undefined = not valid) and how to write it. Built from the server's limits. */
export function fields(limits) {
  const figure = (name, whole) => (text) => {
    const [low, high] = limits[name];
    const value = Number(text);
    const fits = text.trim() !== "" && Number.isFinite(value) && value >= low && value <= high && (!whole || Number.isInteger(value));
    return fits ? value : undefined;
  };
  const flag = (text) => ({ 1: true, 0: false })[text];
  const one = (...names) => (text) => (names.includes(text) ? text : undefined);
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
  };
}

/** What the address asks for: {given: {name: value}, refused: ["top_p=7", ...]}. */
export function read(search, known) {
  const given = {};
  const refused = [];
  for (const [name, text] of new URLSearchParams(search)) {
    if (!Object.hasOwn(known, name)) continue; // not ours: Gradio and Spaces keep their own parameters
    const value = known[name](text);
    if (value === undefined) refused.push(`${name}=${text.slice(0, 40)}`);
    else given[name] = value;
  }
  return { given, refused };
}

/** The query for these settings; what equals its default is left out, parameters that are not ours stay. */
export function write(search, settings, defaults, known) {
  const query = new URLSearchParams(search);
  for (const name of Object.keys(known)) {
    const value = settings[name];
    const plain = value === undefined || value === null || value === "" || value === defaults[name];
    if (plain || (name === "prompt" && value.length > LONGEST_PROMPT)) query.delete(name);
    else query.set(name, typeof value === "boolean" ? String(+value) : String(value));
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}
