/** The page without a server: a tab bar as Gradio draws it, and in each tab the script that fills it. */

import { h } from "../kit/dom.js";
import { rememberTheme } from "../kit/theme.js";
import { mount as learn } from "../learn/learn.js";
import { mount as planner } from "../planner/planner.js";
import { mount as race } from "../race/race.js";
import { mount as results } from "../results/results.js";
import { mount as stage } from "../stage/mount.js";

/** @typedef {{element: string, name: string, setup: Record<string, any>, value: string}} Tab */

const MOUNTS = { stage, race, planner, learn, results };
const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const words = JSON.parse(element("hx-words").textContent ?? "{}");

/** The bar and the panels; the first is open. @param {Tab[]} tabs */
function bar(tabs) {
  const panels = tabs.map(({ element, name }, i) =>
    h(
      "div",
      {
        ...{ class: "tabitem", role: "tabpanel", id: `panel-${element}`, "aria-labelledby": `tab-${element}` },
        hidden: i > 0,
      },
      h("div", { id: element }, h("div", { class: "hx-root" }, h("p", { class: "hx-booting", text: words.opening }))),
    ),
  );
  const buttons = tabs.map(({ element, name }) =>
    h("button", {
      ...{ role: "tab", type: "button", id: `tab-${element}`, "aria-controls": `panel-${element}`, text: name },
      onclick: () => open(element),
      onkeydown: (/** @type {KeyboardEvent} */ event) => along(event),
    }),
  );
  function open(/** @type {string} */ wanted) {
    tabs.forEach(({ element }, i) => {
      buttons[i].setAttribute("aria-selected", String(element === wanted));
      buttons[i].tabIndex = element === wanted ? 0 : -1;
      panels[i].hidden = element !== wanted;
    });
  }
  function along(/** @type {KeyboardEvent} */ event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = buttons.indexOf(/** @type {HTMLElement} */ (event.target));
    const next = buttons[(at + step + buttons.length) % buttons.length];
    next.click();
    next.focus();
    event.preventDefault();
    event.stopPropagation(); // the arrows move the recording elsewhere
  }
  open(tabs[0].element);
  const list = h("div", { class: "tab-container", role: "tablist" }, ...buttons);
  return h("div", { id: "tabs" }, h("div", { class: "tab-wrapper" }, list), ...panels);
}

async function begin() {
  document.body.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
  rememberTheme();
  /** @type {Tab[]} */ const tabs = await (await fetch(new URL("hx/tabs", document.baseURI))).json();
  document.body.prepend(bar(tabs));
  const refuse = () => Promise.reject(new Error(words.no_server));
  const call = new Proxy({}, { get: () => refuse });
  const root = new URL(".", document.baseURI).href.replace(/\/$/, "");
  for (const { element: id, setup, value } of tabs) {
    const props = { setup: JSON.stringify(setup), value };
    const ports = { props, call, root, trigger: () => {}, watch: () => {} };
    MOUNTS[id](element(id), ports).catch((/** @type {Error} */ error) => {
      element(id).replaceChildren(h("p", { class: "hx-booting", text: `${words.failed} (${error.message ?? error})` }));
    });
  }
}

void begin();
