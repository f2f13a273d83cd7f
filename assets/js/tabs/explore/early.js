/** The first screen before the component that owns it is there: Gradio's scripts are larger than ours and draw later. It
 *  stands over their page until mount.js takes it over; what it asks of the server waits until then. */

import { h } from "../../shared/kit/dom.js";
import { skipLinks } from "./title/skip.js";
import { Stage } from "./stage.js";
import { covered } from "../../shared/kit/curtain.js";
import { rememberTheme } from "../../shared/kit/theme.js";
import { tellStory } from "./story/story.js";

const ELEMENT = "stage"; // the component's name in Gradio's configuration

/** Tells the story where the page opens with it, and draws the first screen where it is what the address asks for. Should
 *  that fail, the component draws it. */
export async function early() {
  const first = document.getElementById("hx-first");
  const { components = [], version = "" } = /** @type {any} */ (window).gradio_config ?? {};
  const found = components.find((/** @type {any} */ one) => one.props?.elem_id === ELEMENT)?.props;
  const query = new URLSearchParams(location.search);
  if (!first || "early" in first || !found || "embed" in document.documentElement.dataset) return;
  document.body.classList.toggle("dark", first.classList.contains("hx-dark"));
  rememberTheme();
  const told = tellStory(JSON.parse(found.props.setup));
  if (query.has("tab") && !covered()) return;
  await told; // its first frame comes first
  if ("early" in first) return;
  const theme = new MutationObserver(rememberTheme); // Gradio sets the system's while it starts
  theme.observe(document.body, { attributeFilter: ["class"] });
  // Gradio's style sheet puts all margins and borders to nothing below this class.
  const root = h("div", { class: `hx-root hx-early gradio-container-${version.replaceAll(".", "-")}` });
  first.append(root);
  document.documentElement.style.overflowY = "scroll"; // as the whole page will
  skipLinks();
  const ports = new LatePorts({ value: found.value, setup: found.props.setup });
  const stage = new Stage(root, ports);
  const begun = stage.begin(found.value).then(() => first.classList.add("hx-drawn"));
  /** @type {any} */ (first).early = { stage, root, ports, begun, theme };
}

/** What the component gives, for whoever asks before it is there. */
class LatePorts {
  /** @param {{value: string, setup: string}} props */
  constructor(props) {
    this.props = props;
    /** @type {(ports: import("../../shared/visit/session.js").Ports) => void} */ this.arrived = () => {};
    /** @type {Promise<import("../../shared/visit/session.js").Ports>} */
    const there = new Promise((resolve) => (this.arrived = resolve));
    this.trigger = (/** @type {string} */ event, /** @type {object|undefined} */ data) =>
      void there.then((ports) => ports.trigger(event, data));
    const call = (/** @type {string} */ name) => async (/** @type {object} */ data) => (await there).call[name](data);
    this.call = Object.fromEntries(
      ["open_trace", "simulate", "stop", "tail", "offered", "pace", "long_text"].map((name) => [name, call(name)]),
    );
  }
}
