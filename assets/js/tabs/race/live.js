/** A race here and now: which stacks may race, over which prompt; start and stop, the place in line, how far each lane is. */

import { h, say } from "../../shared/kit/dom.js";
import { reasonOf } from "../../shared/visit/offered.js";
import { pendingBefore } from "../../shared/visit/pending.js";
import { Session } from "../../shared/visit/session.js";
import { PROMPT } from "../../../text/en/run.js";
import { LIVE } from "../../../text/en/race.js";
import { stackNames } from "../../shared/levels/stack-names.js";

/** @import {Preset} from "../../shared/levels/stack.js"
 *  @import {Payload, Ports} from "../../shared/visit/session.js" @import {Race} from "./replay/lanes.js" */

const MEGABYTES = 5; // of a download that is worth a word
const LENGTHS = [32, 64, 96, 128];

/** @param {{setup: any, ports: Ports, onRace: (race: Race) => void}} ctx */
export function livePanel({ setup, ports, onRace }) {
  const { limits, defaults } = setup;
  const session = new Session(
    { trigger: (_, data) => ports.trigger("race", data), call: ports.call },
    { onPayload: apply, held: () => 0, kept: "race" },
  );
  /** @type {Preset[]} */ const usable = setup.presets.filter((/** @type {Preset} */ one) => one.usable);
  const preset = h("select.hx-select", { "aria-label": LIVE.preset, onchange: () => offer() }, [
    usable.map((one) => h("option", { value: one.name, text: one.title })),
  ]);
  const picker = stackPicker(limits.lanes, () => draw());
  const prompt = h("textarea.hx-prompt", { rows: "2", "aria-label": LIVE.prompt, oninput: () => draw() });
  const example = h(
    "select.hx-select",
    {
      "aria-label": LIVE.examplesLabel,
      onchange: () => {
        prompt.value = setup.examples[Number(example.value)]?.prompt ?? prompt.value;
        example.value = "";
        draw();
      },
    },
    [
      h("option", { value: "", text: LIVE.examples }),
      setup.examples.map((/** @type {{title: string}} */ one, /** @type {number} */ i) =>
        h("option", { value: String(i), text: one.title }),
      ),
    ],
  );
  /** @param {string} name @param {number[]} range @param {number} value */
  const number = (name, [low, high], value, step = 1) =>
    h("input.hx-input", {
      type: "number",
      min: String(low),
      max: String(high),
      step: String(step),
      value: String(value),
      id: `hx-race-${name}`,
    });
  const [, mostTokens] = limits.max_new_tokens;
  const length = h("select.hx-select", { id: "hx-race-length" }, [
    LENGTHS.filter((n) => n <= mostTokens).map((n) => h("option", { value: String(n), text: LIVE.tokens(n) })),
  ]);
  length.value = "64";
  const repeats = h("select.hx-select", { id: "hx-race-repeats" }, [
    Array.from({ length: limits.repeats[1] }, (_, i) => h("option", { value: String(i + 1), text: LIVE.times(i + 1) })),
  ]);
  repeats.value = "3";
  const seed = number("seed", limits.seed, defaults.seed);
  const temperature = number("temperature", limits.temperature, defaults.temperature, 0.1);
  /** @param {string} label @param {HTMLElement} input */
  const field = (label, input) => h("label.hx-race-field", [h("span", label), input]);
  const go = h("button.hx-go", { onclick: () => press() }, h("span", LIVE.go));
  const said = h("span.hx-race-said");
  const bars = h("div.hx-race-going");
  const progress = h("div.hx-race-progress", { hidden: true }, [said, bars]);
  const outcome = h("p.hx-race-outcome", { role: "alert", hidden: true });
  const first = h("p.hx-plan-text", { hidden: true });
  const spoken = h("p.hx-sr", { role: "status", "aria-live": "polite" });
  const el = h("section.hx-panel.hx-race-live", { "aria-label": LIVE.label, hidden: true }, [
    h("div.hx-race-form", [
      h("div.hx-race-stacks", [h("p.hx-plan-text", LIVE.stacks), picker.el]),
      h("div.hx-race-what", [
        h("div.hx-race-prompt", [prompt, example]),
        h("div.hx-race-fields", [
          field(LIVE.preset, preset),
          field(LIVE.length, length),
          field(LIVE.repeats, repeats),
          field(LIVE.seed, seed),
          field(LIVE.temperature, temperature),
        ]),
        h("div.hx-race-start", [go, h("p.hx-plan-text", LIVE.note(limits.longest_s))]),
        first,
        progress,
        outcome,
      ]),
    ]),
    spoken,
  ]);

  function request() {
    const value = (/** @type {any} */ input, /** @type {number} */ otherwise) =>
      input.value === "" || !Number.isFinite(Number(input.value)) ? otherwise : Number(input.value);
    return {
      preset: preset.value,
      stacks: picker.chosen(),
      prompt: prompt.value,
      seed: value(seed, defaults.seed),
      temperature: value(temperature, defaults.temperature),
      max_new_tokens: Number(length.value),
      repeats: Number(repeats.value),
    };
  }

  function whyNot() {
    if (!usable.length) return LIVE.noPreset(reasonOf(setup.presets));
    if (picker.chosen().length < limits.lanes[0]) return LIVE.tooFew;
    return prompt.value.trim() ? PROMPT.over(prompt.value, limits.prompt) : LIVE.noPrompt;
  }

  function press() {
    if (session.state !== "idle") return void stop();
    const reason = whyNot();
    if (reason) return tell(reason, "error");
    tell("");
    const asked = request();
    lay(picker.names());
    session.start(asked);
    show({ text: LIVE.asking });
    say(spoken, LIVE.asked);
    draw();
  }

  async function stop() {
    draw();
    try {
      if (await session.stop()) tell(LIVE.stoppedEarly);
    } catch {
      tell(LIVE.unreachable, "error");
    }
    draw();
  }

  /** @param {Payload} payload */
  function apply(payload) {
    if (payload.run !== session.pending) return; // of a race that was left
    const { status, final, ev } = payload;
    session.hear(payload);
    if (status.mode === "live") session.started = true;
    const race = ev.find((one) => one.event === "race");
    if (!final) show(status);
    else if (race) arrived(race, status);
    else tell(sentence(status.text), status.mode === "error" ? "error" : "");
    draw();
  }

  function arrived(/** @type {Race} */ race, /** @type {Record<string, any>} */ status) {
    tell("");
    say(spoken, sentence(status.text));
    onRace(race);
  }

  function lay(/** @type {string[]} */ names) {
    bars.replaceChildren(
      ...names.map((name) => h("div.hx-race-mini", [h("span", name), h("i.hx-race-mini-bar", h("b"))])),
    );
  }

  function show(/** @type {Record<string, any>} */ status) {
    const loaded = status.share ? `, ${Math.round(100 * status.share)} %` : "";
    const about = [`${status.text}${loaded}`, status.phase ? status.detail : ""].filter(Boolean).join("; ");
    if (said.textContent !== about) say(spoken, about);
    say(said, about);
    const most = Number(length.value);
    [...bars.children].forEach((row, i) => {
      const bar = /** @type {HTMLElement} */ (row.querySelector("b"));
      bar.style.width = `${Math.min(100, (100 * (status.tokens?.[i] ?? 0)) / most)}%`;
    });
  }

  function tell(/** @type {string} */ words, kind = "") {
    outcome.textContent = words;
    outcome.hidden = !words;
    outcome.dataset.kind = kind;
  }

  function draw() {
    const state = session.state;
    const reason = state === "idle" ? whyNot() : "";
    say(go.firstChild, { idle: LIVE.go, busy: LIVE.stop, stopping: LIVE.stopping }[state]);
    go.dataset.state = state;
    go.setAttribute("aria-disabled", String(Boolean(reason)));
    go.title = reason;
    go.toggleAttribute("disabled", state === "stopping");
    for (const input of [preset, example, length, repeats, seed, temperature, prompt])
      input.disabled = state !== "idle";
    picker.enable(state === "idle");
    progress.hidden = state === "idle";
  }

  function offer() {
    const one = usable.find((p) => p.name === preset.value);
    picker.offer(one ? choices(one, location.search) : []);
    const mb = one?.needs_download ? Math.round(one.download_mb) : 0;
    first.hidden = mb < MEGABYTES;
    first.textContent = LIVE.fetched(mb);
    draw();
  }

  const asked = new URLSearchParams(location.search);
  const named = asked.get("preset") ?? "";
  if (usable.some((one) => one.name === named)) preset.value = named;
  prompt.value = (asked.get("prompt") || setup.examples[0]?.prompt) ?? "";
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && session.pending && el.offsetParent) stop();
  });
  offer();
  if (!usable.length) el.replaceChildren(h("p.hx-plan-text", whyNot())); // no form to fill in vain
  const before = pendingBefore("race"); // the page was reloaded while a race went on
  if (before) {
    el.hidden = false;
    session.resume(before);
    draw();
  }
  return {
    el,
    apply,
    open() {
      el.hidden = false;
      offer();
    },
    close() {
      el.hidden = true;
    },
    get busy() {
      return session.state !== "idle";
    },
  };
}

const sentence = (/** @type {string} */ words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

/** @typedef {{title: string, stack: string, note: string}} Choice */

/** Of a preset, each stack once: plain decoding first.
 *  @param {Preset} preset @param {string} search of the address, which holds what Explore composes
 *  @returns {Choice[]} */
export function choices(preset, search) {
  const query = new URLSearchParams(search);
  const composed = query.get("preset") && query.get("preset") !== preset.name ? "" : (query.get("stack") ?? "");
  const own = preset.stacks.filter((one) => !one.replan);
  const target = (/** @type {string} */ stack) =>
    stack
      .split(",")
      .at(-1)
      ?.replace(/@(?!dtype|device|id)\w+=[^@,]*/g, "") ?? "";
  const plain = own.find((one) => !one.stack.includes(",")) ?? {
    title: LIVE.plainTitle,
    stack: target(preset.default_stack),
    note: LIVE.plainNote,
  };
  const all = [
    plain,
    { title: LIVE.own, stack: preset.default_stack, note: LIVE.ownNote },
    ...(composed ? [{ title: LIVE.fromPlay, stack: composed, note: LIVE.fromPlayNote }] : []),
    ...own,
  ];
  /** @type {Map<string, Choice>} */
  const found = new Map();
  for (const one of all) {
    const known = found.get(one.stack);
    // The preset's own stack keeps that place, under the name that it has among the examples.
    found.set(one.stack, known && known !== plain && known.title === LIVE.own ? one : (known ?? one));
  }
  return [...found.values()];
}

/** @param {[number, number]} limits of how many @param {() => void} onChange */
function stackPicker([, most], onChange) {
  /** @type {Choice[]} */ let offered = [];
  /** @type {Set<string>} */ let on = new Set();
  let open = true;
  const el = h("ul.hx-race-picker");

  function draw() {
    for (const item of el.children) {
      const box = /** @type {HTMLInputElement} */ (item.querySelector("input"));
      box.checked = on.has(box.value);
      const full = !box.checked && on.size >= most;
      box.disabled = !open || full;
      /** @type {HTMLElement} */ (item).title = full ? LIVE.tooMany(most) : "";
    }
  }

  return {
    el,
    /** @param {Choice[]} list */
    offer(list) {
      offered = list;
      const kept = [...on].filter((stack) => list.some((one) => one.stack === stack));
      on = new Set(kept.length ? kept : list.slice(0, 2).map((one) => one.stack));
      const names = stackNames(list.map((one) => one.stack));
      el.replaceChildren(
        ...list.map(({ title, stack, note }) =>
          h("li", [
            h("label.hx-race-choice", [
              h("input", {
                type: "checkbox",
                value: stack,
                onchange: (/** @type {any} */ event) => {
                  event.target.checked ? on.add(stack) : on.delete(stack);
                  draw();
                  onChange();
                },
              }),
              h("b", title),
              h("span.hx-race-choice-name", { text: names.get(stack), title: stack }),
              h("span", note),
            ]),
          ]),
        ),
      );
      draw();
    },
    /** In the order of the list: plain decoding, where it is chosen, comes first. */
    chosen: () => offered.filter((one) => on.has(one.stack)).map((one) => one.stack),
    names: () => offered.filter((one) => on.has(one.stack)).map((one) => one.title),
    /** @param {boolean} yes */
    enable(yes) {
      open = yes;
      draw();
    },
  };
}
