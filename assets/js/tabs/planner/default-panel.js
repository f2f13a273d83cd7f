/** The default stack on this machine: why it is that stack, what is predicted of it, and the press that
 *  measures the machine, with how far that is. */

import { h, say } from "../../shared/kit/dom.js";
import { plannedFrom, promised } from "../../shared/levels/default-said.js";
import { stackName } from "../../shared/levels/stack-names.js";
import { pendingBefore } from "../../shared/visit/pending.js";
import { Session } from "../../shared/visit/session.js";
import { DEFAULT_STACK } from "../../../text/en/default-stack.js";

/** @import {DefaultStack} from "../../shared/levels/default-said.js"
 *  @import {Payload, Ports} from "../../shared/visit/session.js" */

/** @typedef {{name: string, title: string, usable: boolean, default?: DefaultStack}} Known */

/** @param {{presets: Known[], ports: Ports, onUse: (stack: string, preset: string) => void,
 *    onMeasured: (preset: string) => void}} ctx onMeasured: this preset was */
export function defaultPanel({ presets, ports, onUse, onMeasured }) {
  const usable = presets.filter((one) => one.usable && one.default);
  /** @type {Known|undefined} */ let shown = usable[0];
  let profiled = ""; // the preset of the profile that the tab shows
  const session = new Session(
    { trigger: (_, data) => ports.trigger("measure", data), call: ports.call },
    { onPayload: apply, held: () => 0, kept: "measure" },
  );
  const name = h("span");
  const code = h("code");
  const from = h("p.hx-plan-text");
  const promise = h("p.hx-default-promise", { tabindex: "0", "data-tip": DEFAULT_STACK.overTip });
  const use = h("button.hx-quiet", { text: DEFAULT_STACK.use, onclick: () => take() });
  const go = h("button.hx-quiet.hx-default-go", { "data-tip": DEFAULT_STACK.goTip, onclick: () => press() }, [
    h("span", DEFAULT_STACK.go),
  ]);
  const fill = h("i");
  const bar = h(
    "div.hx-default-bar",
    { role: "progressbar", "aria-label": DEFAULT_STACK.progress, "aria-valuemin": "0", "aria-valuemax": "100" },
    [fill],
  );
  const said = h("p.hx-default-said", { role: "status", "aria-live": "polite" });
  const el = h("section.hx-panel.hx-default", { "aria-label": DEFAULT_STACK.label }, [
    h("h2.hx-plan-h", DEFAULT_STACK.title),
    h("p.hx-default-stack", [name, " ", code]),
    from,
    promise,
    h("div.hx-default-acts", [use, go, bar, said]),
  ]);

  function take() {
    if (shown?.default) onUse(shown.default.stack, shown.name);
  }

  function press() {
    if (!shown) return;
    if (session.state === "idle") {
      session.start({ preset: shown.name });
      progress(0);
      say(said, DEFAULT_STACK.asking);
    } else {
      session.stop().then(
        (ended) => {
          if (ended) say(said, DEFAULT_STACK.stoppedEarly);
          draw();
        },
        () => say(said, DEFAULT_STACK.unreachable),
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
    if (final && status.default) arrived(status.preset, status.default);
    else say(said, final ? sentence(status.text) : status.text);
    if (!final) progress(status.phase === "measuring" ? (status.share ?? 0) : 0);
    draw();
  }

  /** @param {string} measured the preset @param {DefaultStack} now */
  function arrived(measured, now) {
    const one = usable.find(({ name }) => name === measured);
    if (!one) return;
    const as = one.default?.stack === now.stack ? DEFAULT_STACK.same : DEFAULT_STACK.found;
    one.default = { ...now, measures: true };
    say(said, as(now.stack));
    onMeasured(measured);
  }

  /** @param {number} share */
  function progress(share) {
    fill.style.width = `${100 * share}%`;
    bar.setAttribute("aria-valuenow", String(Math.round(100 * share)));
  }

  function draw() {
    const known = shown?.default;
    el.hidden = !known;
    if (!known) return;
    say(name, stackName(known.stack));
    say(code, known.stack);
    say(from, plannedFrom(known));
    say(promise, promised(known));
    promise.hidden = !known.promise;
    promise.toggleAttribute("data-tip", Boolean(known.promise?.two));
    if (known.promise?.two) promise.dataset.tip = DEFAULT_STACK.overTip;
    const idle = known.source === "measured" ? DEFAULT_STACK.again : DEFAULT_STACK.go;
    say(go.firstChild, { idle, busy: DEFAULT_STACK.stop, stopping: DEFAULT_STACK.stopping }[session.state]);
    go.hidden = !known.measures || known.source === "pinned";
    go.toggleAttribute("disabled", session.state === "stopping");
    bar.hidden = session.state === "idle";
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && session.pending && el.offsetParent) press();
  });
  /** The preset that the address names, else that of the profile; one that cannot be used here changes nothing. */
  function follow() {
    const names = [new URLSearchParams(location.search).get("preset"), profiled];
    shown = names.map((one) => usable.find(({ name }) => name === one)).find(Boolean) ?? shown;
    draw();
  }

  const before = pendingBefore("measure"); // the page was reloaded while it went on
  if (before) session.resume(before);
  new ResizeObserver(follow).observe(el); // the tab is opened
  draw();
  return {
    el,
    apply,
    /** @param {string} preset whose profile is shown */
    show(preset) {
      profiled = preset;
      follow();
    },
  };
}

const sentence = (/** @type {string} */ words) => `${words[0].toUpperCase()}${words.slice(1)}.`;
