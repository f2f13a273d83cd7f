/** Gives the first screen to the component that owns it; where it was drawn before (early.js), it moves in. */

import { arriveAt } from "./arrival.js";
import { skipLinks } from "./title/skip.js";
import { Stage } from "./stage.js";
import { tabAsked } from "../../shared/kit/tabs.js";
import { rememberTheme } from "../../shared/kit/theme.js";
import { tellStory } from "./story/story.js";
import { onArrival } from "../../shared/share/arrive.js";
import { offer } from "../../shared/player/within-reach.js";

/**
 * @param {HTMLElement} root
 * @typedef {{props: {value: string, setup: string}, watch: (name: string, f: () => void) => void}} Component
 * @param {import("../../shared/visit/session.js").Ports & Component} ports from the component's js_on_load
 */
export async function mount(root, ports) {
  const first = document.getElementById("hx-first");
  const { early } = /** @type {any} */ (first ?? {});
  if (first && !early) /** @type {any} */ (first).early = null; // too late for it
  const host = /** @type {HTMLElement} */ (root.querySelector(".hx-root") ?? root);
  early?.theme.disconnect();
  rememberTheme();
  if (!early) {
    void tellStory(JSON.parse(ports.props.setup));
    skipLinks();
  }
  const stage = early?.stage ?? new Stage(host, ports);
  ports.watch("value", () => stage.receive(ports.props.value));
  early?.ports.arrived(ports);
  await (early ? early.begun : stage.begin(ports.props.value));
  const held = early?.root.contains(document.activeElement) ? document.activeElement : null;
  if (early) moved(early.root, host);
  offer(stage.reach);
  onArrival("explore", () => arriveAt(stage));
  tabAsked(stage.settings.simulated ? "planner" : ""); // the Planner knows the profiles that simulated runs are of
  if (early) {
    first?.remove();
    if (held instanceof HTMLElement) focusAgain(held);
    document.documentElement.style.overflowY = "";
    return stage.refresh();
  }
  // The outline that the page came with goes when what it stands for has been drawn.
  requestAnimationFrame(() => requestAnimationFrame(() => first?.remove()));
}

/** Gradio shows what is in it some frames later: what is hidden until then loses the focus, and gets it back. */
function focusAgain(element) {
  const now = document.activeElement;
  if (now && now !== document.body && now !== element) return;
  element.focus({ preventScroll: true });
  if (getComputedStyle(element).visibility === "hidden") requestAnimationFrame(() => focusAgain(element));
}

/** Puts an element into another place with all that it is doing, where the browser can do that. */
function moved(element, host) {
  const text = element.querySelector(".hx-text");
  const { scrollTop } = text;
  element.className = "hx-root";
  for (const node of element.querySelectorAll(".hx-new")) node.classList.remove("hx-new"); // else they would move again
  if ("moveBefore" in host) host.moveBefore(element, null);
  else host.append(element);
  text.scrollTop = scrollTop;
}
