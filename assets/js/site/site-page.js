/** The page without a server: a tab bar as Gradio draws it, and in each tab the script that fills it. */

import { h } from "../shared/kit/dom.js";
import { markFrame } from "../shared/share/framed.js";
import { rememberTheme } from "../shared/kit/theme.js";
import { FiguresAhead } from "./figures-ahead.js";
import { priced } from "./prices-ahead.js";
import { mount as atlas } from "../tabs/atlas/atlas.js";
import { mount as learn } from "../tabs/learn/learn.js";
import { mount as planner } from "../tabs/planner/planner.js";
import { mount as race } from "../tabs/race/race.js";
import { mount as results } from "../tabs/results/results.js";
import { mount as stage } from "../tabs/explore/mount.js";

/** @typedef {{element: string, name: string, setup: Record<string, any>, value: string}} Tab */

const MOUNTS = { stage, race, planner, learn, results, atlas };
const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const words = JSON.parse(element("hx-words").textContent ?? "{}");

/**
 * Puts the bar and the panels into the page; the first tab is open.
 * @param {Tab[]} tabs @param {HTMLElement[]} figures below the first tab's component
 * @param {(tab: Tab) => void} onOpen a tab is opened, perhaps once more
 */
function bar(tabs, figures, onOpen) {
  const panels = tabs.map(({ element, name }, i) =>
    h(
      "div",
      {
        ...{ class: "tabitem", role: "tabpanel", id: `panel-${element}`, "aria-labelledby": `tab-${element}` },
        hidden: i > 0,
      },
      h("div", { id: element }, h("div", { class: "hx-root" }, h("p", { class: "hx-booting", text: words.opening }))),
      ...(i === 0 ? figures : []),
    ),
  );
  const buttons = tabs.map((tab) =>
    h("button", {
      ...{ role: "tab", type: "button", id: `tab-${tab.element}`, "aria-controls": `panel-${tab.element}` },
      text: tab.name,
      onclick: () => open(tab),
      onkeydown: (/** @type {KeyboardEvent} */ event) => along(event),
    }),
  );
  function open(/** @type {Tab} */ wanted) {
    tabs.forEach((tab, i) => {
      buttons[i].setAttribute("aria-selected", String(tab === wanted));
      buttons[i].tabIndex = tab === wanted ? 0 : -1;
      panels[i].hidden = tab !== wanted;
    });
    onOpen(wanted);
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
  const list = h("div", { class: "tab-container", role: "tablist" }, ...buttons);
  document.body.prepend(
    h("main", { id: "tabs" }, h("div", { class: "tab-wrapper" }, list), ...panels),
    h("footer", { class: "hx-foot" }, h("a", { href: words.reference_at, text: words.reference })),
  );
  open(tabs[0]);
}

async function begin() {
  markFrame();
  document.body.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
  rememberTheme();
  /** @type {Tab[]} */ const tabs = await (await fetch(new URL("hx/tabs", document.baseURI))).json();
  const root = new URL(".", document.baseURI).href.replace(/\/$/, "");
  const { plotly } = /** @type {Tab} */ (tabs.find((tab) => tab.element === "planner")).setup;
  const figures = new FiguresAhead(root, root + plotly, words.failed);
  const prices = async () => (await fetch(`${root}/hx/planner/prices`)).json();
  /** @type {any} */ (globalThis).hxAnswers("planner/price", async (/** @type {any} */ asked) =>
    priced(await prices(), asked),
  );
  const { grammar } = tabs[0].setup; // that of all tabs
  const refuse = () => Promise.reject(new Error(words.no_server));
  const call = new Proxy({}, { get: () => refuse });
  const trigger = (/** @type {string} */ name, /** @type {any} */ asked) => name === "figures" && figures.draw(asked);
  /** @type {Set<Tab>} */ const filled = new Set();
  bar(tabs, figures.els, (tab) => {
    if (filled.has(tab)) return;
    filled.add(tab);
    const props = { setup: JSON.stringify({ grammar, ...tab.setup }), value: tab.value };
    const place = element(tab.element);
    MOUNTS[tab.element](place, { props, call, root, trigger, watch: () => {} }).catch((/** @type {Error} */ error) =>
      place.replaceChildren(h("p", { class: "hx-booting", text: `${words.failed} (${error.message ?? error})` })),
    );
  });
}

void begin();
