/** The page without a server: a tab bar as Gradio draws it, and in each tab the script that fills it. */

import { h } from "../shared/kit/dom.js";
import { heard } from "../../text/heard.js";
import { markFrame } from "../shared/share/framed.js";
import { rememberTheme } from "../shared/kit/theme.js";
import { FiguresAhead, priced } from "./ahead.js";
import { tellStory } from "../tabs/explore/story/story.js";

/** @typedef {{name: string, title: string, element: string, setup: Record<string, any>, value: string}} Tab */

const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @type {Record<string, string>} */
const words = Object.fromEntries(
  Object.entries(JSON.parse(element("hx-words").textContent ?? "{}")).map(([name, said]) => [
    name,
    heard(String(said)),
  ]),
);

/** Puts the bar and the panels into the page; the first tab is open.
 *  @param {Tab[]} tabs @param {HTMLElement[]} figures below the first tab's component
 *  @param {(tab: Tab) => void} onOpen a tab is opened, perhaps once more */
function bar(tabs, figures, onOpen) {
  const panels = tabs.map(({ name, element }, i) =>
    h(
      "div.tabitem",
      { ...{ role: "tabpanel", id: `tab-${name}`, "aria-labelledby": `tab-${name}-button` }, hidden: i > 0 },
      [h("div", { id: element }, h("div.hx-root", h("p.hx-booting", words.opening))), i === 0 ? figures : []],
    ),
  );
  const buttons = tabs.map((tab) =>
    h("button", {
      ...{ role: "tab", id: `tab-${tab.name}-button`, "aria-controls": `tab-${tab.name}` },
      text: heard(tab.title),
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
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const next = buttons[(at + step + buttons.length) % buttons.length];
    next.click();
    next.focus();
    event.preventDefault();
    event.stopPropagation(); // the arrows move the recording elsewhere
  }
  const list = h("div.tab-container", { role: "tablist" }, buttons);
  document.body.prepend(
    h("main", { id: "tabs" }, [h("div.tab-wrapper", list), panels]),
    h("footer.hx-foot", h("a", { href: words.reference_at, text: words.reference })),
  );
  open(tabs[0]);
}

async function begin() {
  markFrame();
  document.body.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
  rememberTheme();
  /** @type {Tab[]} */ const tabs = await (await fetch(new URL("hx/tabs", document.baseURI))).json();
  const root = new URL(".", document.baseURI).href.replace(/\/$/, "");
  const { plotly } = /** @type {Tab} */ (tabs.find((tab) => tab.name === "planner")).setup;
  const figures = new FiguresAhead(root, root + plotly, words.failed);
  const prices = async () => (await fetch(`${root}/hx/planner/prices`)).json();
  /** @type {any} */ (globalThis).hxAnswers("planner/price", async (/** @type {any} */ asked) =>
    priced(await prices(), asked),
  );
  tellStory(tabs[0].setup);
  const refuse = () => Promise.reject(new Error(words.no_server));
  const call = new Proxy({}, { get: () => refuse });
  const trigger = (/** @type {string} */ name, /** @type {any} */ asked) => name === "figures" && figures.draw(asked);
  /** @type {Set<Tab>} */ const filled = new Set();
  bar(tabs, figures.els, (tab) => {
    if (filled.has(tab)) return;
    filled.add(tab);
    const place = element(tab.element);
    const props = { setup: JSON.stringify(tab.setup), value: tab.value };
    import(`../tabs/${tab.name}/${tab.name}.js`)
      .then(({ mount }) => mount(place, { props, call, root, trigger, watch: () => {} }))
      .catch((/** @type {Error} */ error) =>
        place.replaceChildren(h("p.hx-booting", `${words.failed} (${error.message ?? error})`)),
      );
  });
}

void begin();
