/** Many requests at once: plain decoding and a stack decode the same requests, each in one batch. Two pictures on one clock,
 *  tokens/s in sum, and the texts of the request that is chosen; recorded, or here and now. */

import { h, say } from "../../shared/kit/dom.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { Player } from "../../shared/player/player.js";
import { create as createTransport } from "../../shared/player/transport.js";
import { pendingBefore } from "../../shared/visit/pending.js";
import { Session } from "../../shared/visit/session.js";
import { reasonOf } from "../../shared/visit/offered.js";
import { LIVE, LOAD, SAID, WORDS } from "../../../text/en/race.js";
import { choices } from "./live.js";
import { createLane } from "./replay/lane.js";
import { LaneModel } from "./replay/lanes.js";
import { Batches } from "./batches.js";
import { gainOf, panel, result, tabulate } from "./request-sides.js";

/** @import {Payload, Ports} from "../../shared/visit/session.js" */

const LASTS_S = /** @type {[number, number]} */ ([6, 15]);

/** @param {{setup: any, ports: Ports, base: string, onPlay: (lane: LaneModel) => void, onSave: (lane: LaneModel) => void,
 *    attempt: (action: () => unknown) => Promise<void>}} ctx */
export function createLoad({ setup, ports, base, onPlay, onSave, attempt }) {
  /** @type {{name: string, load: number, stacks: string[], machine: string, recorded: string}[]} */ let menu = [];
  let batches = new Batches();
  let load = 0;
  let request = 0;
  let frame = 0;
  let drawn = -1; // records that the pictures show
  /** @type {ReturnType<typeof createLane>[]} */ let texts = [];
  /** @type {(LaneModel|null)[]} */ let models = [];

  const session = new Session(
    { trigger: (_, data) => ports.trigger("load", data), call: ports.call },
    { onPayload: apply, held: () => batches.taken, kept: "load" },
  );
  const player = new Player(() => schedule(), { lasts: LASTS_S });

  // What is shown.

  const bar = h("div.hx-race-clock");
  const transport = createTransport(bar, {
    player,
    label: WORDS.playback,
    words: (model, cursor) => (model ? model.clockText(cursor) : ""),
  });
  const loads = h("div.hx-load-loads", { role: "group", "aria-label": LOAD.loads }, [
    h("span.hx-plan-text", LOAD.loads),
    setup.limits.loads.map((/** @type {number} */ n) =>
      h("button.hx-quiet", { "data-load": n, onclick: () => attempt(() => choose(n)) }, String(n)),
    ),
  ]);
  const sides = [0, 1].map((side) => panel(side, (n) => pick(n)));
  const chosen = h("select.hx-select.hx-load-request", {
    "aria-label": LOAD.request,
    onchange: () => pick(Number(chosen.value)),
  });
  const columns = h("div.hx-race-texts", { role: "group", "aria-label": WORDS.texts, style: { "--lanes": "2" } });
  const spoken = h("p.hx-sr", { role: "status", "aria-live": "polite" });
  const origin = h("p.hx-plan-text");
  const table = h("table");
  const shown = h("div.hx-load-shown", [
    h("div.hx-panel.hx-race-board", [
      bar,
      h("div.hx-load-sides", [sides.map((side) => side.el)]),
      h("p.hx-plan-text", LOAD.key),
    ]),
    h("label.hx-load-choose", [h("span", LOAD.request), chosen]),
    columns,
    h("details.hx-figure-data", [h("summary", LOAD.table), h("div.hx-figure-scroll", table)]),
    origin,
  ]);
  const none = h("p.hx-panel.hx-race-empty", { hidden: true });
  const live = liveBar(() => press());
  const el = h("div.hx-load", { hidden: true }, [
    h("h2.hx-sr", LOAD.open),
    h("div.hx-load-top", [loads, live.el]),
    live.said,
    none,
    shown,
    spoken,
  ]);

  function schedule() {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw();
    });
  }

  function draw() {
    if (!batches.head || !batches.sides.length) return;
    const { cursor } = player;
    if (drawn !== batches.taken) {
      drawn = batches.taken;
      for (const side of sides) side.draw(batches);
      write();
      tabulate(table, batches);
    }
    for (const side of sides) side.update(batches, cursor, request);
    texts.forEach((text, side) => {
      const model = models[side];
      if (model) text.update(batches.sides[side].began + cursor - model.start, null, Infinity);
      text.reveal(cursor >= batches.end);
    });
    transport.update(batches, cursor, {});
    el.dataset.over = String(cursor >= batches.end);
  }

  /** The texts of the request that is chosen, as far as they are known. */
  function write() {
    for (const text of texts) text.destroy();
    const [plain, own] = batches.sides.map(({ requests }) => requests[request]);
    models = [plain, own].map(({ records }) => (records.length ? new LaneModel(records) : null));
    const names = stackNames(batches.head?.stacks ?? []);
    let equal = 0;
    while (equal < plain.ids.length && plain.ids[equal] === own.ids[equal]) equal += 1;
    texts = models.flatMap((model, index) =>
      model
        ? createLane(model, {
            index,
            most: Math.max(1, model.tokens),
            names,
            says: {
              mark: () => ({ text: "", place: "" }),
              result: [],
              tip: null,
              late: false,
              ahead: () => "",
              verdict:
                index && batches.whole
                  ? { text: LOAD.same(equal, plain.ids.length), kind: equal === plain.ids.length ? "yes" : "no" }
                  : { text: "", kind: "" },
            },
            onToken: () => {},
            onPlay: () => onPlay(model),
            onSave: () => onSave(model),
          })
        : [],
    );
    columns.replaceChildren(...texts.map(({ column }) => column));
  }

  /** @param {number} n a request */
  function pick(n) {
    request = n;
    chosen.value = String(n);
    write();
    draw();
  }

  /** Shows other batches. @param {Batches} given */
  function show(given) {
    batches = given;
    drawn = -1;
    request = 0;
    fill();
    none.hidden = true;
    shown.hidden = false;
  }

  function fill() {
    const { head } = batches;
    if (!head) return;
    const options = head.prompts.map((text, i) => h("option", { value: String(i), text: `${i + 1}. ${text}` }));
    chosen.replaceChildren(...options);
    chosen.value = String(request);
    const gains = head.repeats.map((repeat) => SAID.gain(gainOf(repeat)));
    say(origin, head.recorded ? LOAD.origin(head, head.shown + 1, gains) : "");
  }

  /** The recording of so many requests. @param {number} n */
  async function choose(n) {
    if (session.pending) return;
    load = n;
    setQuery({ load: String(n), race: null, compare: null });
    mark();
    const found = menu.find((one) => one.load === n);
    if (!found) {
      shown.hidden = true;
      none.hidden = false;
      none.textContent = LOAD.none(n);
      return;
    }
    const reply = await fetch(`${base}${setup.races}/load/${encodeURIComponent(found.name)}`);
    if (!reply.ok) throw new Error(WORDS.notOpened(WORDS.status(reply.status)));
    const records = await reply.json();
    if (n !== load || session.pending) return;
    const given = new Batches();
    given.take(records);
    show(given);
    player.attach(given);
    if (player.reduced) player.seek(player.end);
    else player.play();
    say(spoken, result(given));
  }

  function mark() {
    for (const button of loads.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.load) === load));
      button.disabled = Boolean(session.pending);
    }
  }

  // Here and now.

  function liveBar(/** @type {() => void} */ onPress) {
    /** @type {import("../../shared/levels/stack.js").Preset[]} */
    const usable = setup.presets.filter((/** @type {any} */ one) => one.usable);
    const preset = h("select.hx-select", { "aria-label": LIVE.preset, onchange: () => offer() }, [
      usable.map((one) => h("option", { value: one.name, text: one.title })),
    ]);
    const stack = h("select.hx-select", { "aria-label": LOAD.stack });
    const go = h("button.hx-go", { onclick: onPress }, h("span", LOAD.go));
    const said = h("p.hx-race-outcome", { role: "status", hidden: true });
    function offer() {
      const one = usable.find(({ name }) => name === preset.value);
      const found = one ? choices(one, location.search).filter((choice) => choice.stack.includes(",")) : [];
      const names = stackNames(found.map((choice) => choice.stack));
      stack.replaceChildren(
        ...found.map((choice) => h("option", { value: choice.stack, text: names.get(choice.stack) ?? "" })),
      );
    }
    const named = new URLSearchParams(location.search).get("preset");
    if (usable.some(({ name }) => name === named)) preset.value = named ?? "";
    offer();
    const el = h(
      "div.hx-load-live",
      usable.length ? [preset, stack, go] : [h("p.hx-plan-text", LIVE.noPreset(reasonOf(setup.presets)))],
    );
    return {
      el,
      said,
      asked: () => ({ preset: preset.value, stack: stack.value, load }),
      /** @param {string} state */
      update(state) {
        say(go.firstChild, { idle: LOAD.go, busy: LIVE.stop, stopping: LIVE.stopping }[state] ?? "");
        go.dataset.state = state;
        for (const input of [preset, stack]) input.disabled = state !== "idle";
        go.toggleAttribute("disabled", state === "stopping");
      },
      tell(/** @type {string} */ words, kind = "") {
        say(said, words);
        said.hidden = !words;
        said.dataset.kind = kind;
      },
    };
  }

  async function press() {
    if (session.state !== "idle") return stop();
    live.tell(LIVE.asking);
    batches = new Batches();
    session.start(live.asked());
    state();
  }

  async function stop() {
    try {
      if (await session.stop()) live.tell(LIVE.stoppedEarly);
    } catch {
      live.tell(LIVE.unreachable, "error");
    }
    state();
  }

  function state() {
    live.update(session.state);
    mark();
  }

  /** @param {Payload} payload */
  function apply(payload) {
    if (payload.run !== session.pending) return; // of a race that was left
    const { run, from, ev, final, status } = payload;
    if (from > batches.taken) return void session.catchUp(run);
    session.hear(payload);
    const fresh = ev.slice(batches.taken - from);
    const begins = !batches.head && fresh.length > 0;
    if (fresh.length) batches.take(fresh);
    if (begins) {
      load = batches.head?.load ?? load;
      show(batches);
      player.live(batches);
    } else if (fresh.length) player.grow();
    live.tell(final && status.mode === "live" ? "" : status.text, status.mode === "error" ? "error" : "");
    if (final) ended();
    state();
  }

  function ended() {
    batches.over = true;
    if (!batches.head) return;
    fill();
    drawn = -1;
    player.pause();
    schedule();
    say(spoken, result(batches));
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && session.pending && el.offsetParent) stop();
  });

  return {
    el,
    apply,
    /** @param {string|null} asked how many requests */
    async open(asked) {
      el.hidden = false;
      const before = pendingBefore("load");
      if (before && !session.pending) session.resume(before);
      if (!menu.length) {
        const reply = await fetch(`${base}${setup.races}/load`).catch(() => null);
        menu = reply?.ok ? await reply.json() : [];
      }
      const known = setup.limits.loads.includes(Number(asked)) ? Number(asked) : 0;
      load = known || load || Math.max(...menu.map((one) => one.load), 1);
      state();
      if (!session.pending) await choose(load);
    },
    close() {
      el.hidden = true;
      player.pause();
      setQuery({ load: null });
    },
  };
}
