/** The quick set, run here and now: which preset, start and stop, the place in line, how far it is. */

import { h, say } from "../../shared/kit/dom.js";
import { stackName } from "../../shared/levels/stack-names.js";
import { reasonOf } from "../../shared/visit/offered.js";
import { Session } from "../../shared/visit/session.js";
import { QUICK } from "../../../text/en/results.js";

/** @import {Preset} from "../../shared/levels/stack.js"
 *  @import {Payload, Ports} from "../../shared/visit/session.js" @import {Row} from "./columns.js" */

const MEGABYTES = 5; // of a download that is worth a word

/** @param {{setup: any, ports: Ports, onResults: (found: any) => () => void}} ctx
 *    onResults: takes what was found, and gives what shows it */
export function quickPanel({ setup, ports, onResults }) {
  const { prompts, tokens, longest_s } = setup.quick;
  const session = new Session(
    { trigger: (_, data) => ports.trigger("quick", data), call: ports.call },
    { onPayload: apply, held: () => 0, kept: "quick" },
  );
  /** @type {Preset[]} */ const usable = setup.presets.filter((/** @type {Preset} */ one) => one.usable);
  const asked = new URLSearchParams(location.search).get("preset") ?? "";
  const pick = h("select.hx-select.hx-res-pick", { "aria-label": QUICK.preset, onchange: () => about() }, [
    usable.map(({ name, title }) => h("option", { value: name, text: title })),
  ]);
  if (usable.some((one) => one.name === asked)) pick.value = asked;
  const go = h("button.hx-go", { onclick: () => press() }, h("span", ""));
  const first = h("p.hx-plan-text", { hidden: true });
  const fill = h("i");
  const bar = h(
    "div.hx-res-bar",
    { role: "progressbar", "aria-label": QUICK.measured, "aria-valuemin": "0", "aria-valuemax": String(prompts) },
    [fill],
  );
  const text = h("span.hx-res-said");
  const progress = h("div.hx-res-progress", { hidden: true }, [bar, text]);
  const outcome = h("p.hx-res-outcome", { hidden: true });
  const spoken = h("p.hx-sr", { role: "status", "aria-live": "polite" });
  const el = h("section.hx-panel.hx-res-quick", { "aria-label": QUICK.label }, [
    h("div", [
      h("h2.hx-plan-h", QUICK.title),
      h("p.hx-plan-text", QUICK.lead(prompts, tokens, Math.round(longest_s / 60))),
      first,
    ]),
    h("div.hx-res-start", [pick, go]),
    progress,
    outcome,
    spoken,
  ]);

  function press() {
    if (session.state === "idle") {
      tell("");
      session.start({ preset: pick.value });
      show({ text: QUICK.asking });
      say(spoken, QUICK.asked);
    } else {
      session.stop().then(
        (ended) => {
          if (ended) tell(QUICK.stoppedEarly);
          draw();
        },
        () => tell(QUICK.unreachable, "error"),
      );
    }
    draw();
  }

  /** @param {Payload} payload */
  function apply(payload) {
    if (payload.run !== session.pending) return; // of a measurement that was left
    const { status, final } = payload;
    session.hear(payload);
    if (status.mode === "live") session.started = true;
    if (!final) show(status);
    else if (status.results) arrived(status);
    else tell(sentence(status.text), status.mode === "error" ? "error" : "");
    draw();
  }

  function arrived(/** @type {Record<string, any>} */ status) {
    const rows = status.results.stacks;
    const best = rows.find((/** @type {Row} */ row) => row.stack !== row.plain) ?? rows[0];
    const [low, high] = best.interval;
    const figures = { gain: best.speed_up.toFixed(2), low: low.toFixed(2), high: high.toFixed(2) };
    tell(QUICK.found(sentence(status.text), { stack: stackName(best.stack), ...figures, column: QUICK.now }));
    const reveal = onResults(status);
    outcome.append(h("button.hx-quiet", { text: QUICK.show, onclick: reveal }));
  }

  /** How far it is. @param {Record<string, any>} status */
  function show(status) {
    const share = status.phase === "measuring" ? status.done / status.of : (status.share ?? 0);
    fill.style.width = `${100 * share}%`;
    bar.setAttribute("aria-valuenow", String(status.done ?? 0));
    bar.setAttribute("aria-valuetext", status.text);
    bar.dataset.mode = status.mode ?? "waiting";
    const loaded = `${status.text}${status.share ? `, ${Math.round(100 * status.share)} %` : ""}`;
    const before = status.left ? QUICK.left(loaded, duration(status.left)) : loaded;
    say(text, before);
    if (status.phase !== "measuring" || status.done % 4 === 0) say(spoken, before);
  }

  function tell(/** @type {string} */ words, kind = "") {
    outcome.textContent = words;
    outcome.hidden = !words;
    outcome.dataset.kind = kind;
    say(spoken, words);
  }

  function draw() {
    const state = session.state;
    say(go.firstChild, { idle: QUICK.go, busy: QUICK.stop, stopping: QUICK.stopping }[state]);
    go.dataset.state = state;
    go.toggleAttribute("disabled", state === "stopping");
    pick.disabled = state !== "idle";
    progress.hidden = state === "idle";
  }

  function about() {
    const chosen = usable.find((one) => one.name === pick.value);
    const mb = chosen?.needs_download ? Math.round(chosen.download_mb) : 0;
    first.hidden = mb < MEGABYTES;
    first.textContent = QUICK.fetched(mb);
  }

  if (!usable.length) el.replaceChildren(h("p.hx-plan-text", QUICK.noPreset(reasonOf(setup.presets))));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && session.pending && el.offsetParent) press();
  });
  about();
  draw();
  return { el, apply };
}

/** @param {number} s */
const duration = (s) => (s < 90 ? QUICK.seconds(5 * Math.max(1, Math.ceil(s / 5))) : QUICK.minutes(Math.ceil(s / 60)));
const sentence = (/** @type {string} */ words) => `${words[0].toUpperCase()}${words.slice(1)}.`;
