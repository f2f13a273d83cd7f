/** The Explore tab: the first screen in the component that owns it, and what the whole page needs once. */

import { arriveAt } from "./arrival.js";
import { skipLinks } from "./title/title.js";
import { Stage } from "./stage.js";
import { tabAsked } from "../../shared/kit/tabs.js";
import { rememberTheme } from "../../shared/kit/theme.js";
import { tellStory } from "./story/story.js";
import { onArrival } from "../../shared/share/arrive.js";
import { offer } from "../../shared/player/within-reach.js";

/** @param {HTMLElement} root
 *  @typedef {{props: {value: string, setup: string}, watch: (name: string, f: () => void) => void}} Component
 *  @param {import("../../shared/visit/session.js").Ports & Component} ports from the component's js_on_load */
export async function mount(root, ports) {
  rememberTheme();
  tellStory();
  skipLinks();
  const stage = new Stage(/** @type {HTMLElement} */ (root.querySelector(".hx-root") ?? root), ports);
  ports.watch("value", () => stage.receive(ports.props.value));
  await stage.begin(ports.props.value);
  offer(stage.reach);
  onArrival("explore", () => arriveAt(stage));
  tabAsked(stage.settings.simulated ? "planner" : ""); // the Planner knows the profiles that simulated runs are of
  // The outline that the page came with goes when what it stands for has been drawn.
  requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById("hx-first")?.remove()));
}
