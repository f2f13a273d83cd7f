/** The Atlas tab: the map of all systems, or the card of one. `mount` is called once by its component. */

import { h, tips } from "../../shared/kit/dom.js";
import { loadStyles } from "../../shared/kit/styles.js";
import { isOpen, onTabs } from "../../shared/kit/tabs.js";
import { rememberTheme } from "../../shared/kit/theme.js";
import { learned } from "../../shared/levels/kinds.js";
import { arrive } from "../../shared/share/arrive.js";
import { asked, filtered, go, left, filters, ordered, passes } from "./by-question.js";
import { AtlasMap, COLUMNS, ROWS } from "./map.js";
import { systemCard } from "./system-card.js";
import { bringLater } from "../../systems/index.js";
import { ATLAS } from "../../../text/en/atlas.js";

/** @import {Filter, System} from "./by-question.js" */

const LISTING = "../../../../systems";
const KEYS = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowLeft: -1 });

/** @param {HTMLElement} root */
export async function mount(root) {
  rememberTheme();
  await Promise.all([loadStyles("planner", "atlas"), bringLater("atlas"), learned]);
  await new AtlasPage(/** @type {HTMLElement} */ (root.querySelector(".hx-root") ?? root)).begin();
}

class AtlasPage {
  /** @param {HTMLElement} root */
  constructor(root) {
    /** @type {System[]} */ this.systems = [];
    /** @type {string|null} */ this.shown = null; // the system whose card is open
    this.open = false;
    this.map = new AtlasMap({ onOpen: (id) => this.go(id), onFilter: filtered });
    this.place = h("div.hx-atlas-place");
    this.el = h("div.hx-stage.hx-planner.hx-atlas", [this.map.el, this.place]);
    document.addEventListener("keydown", (event) => this.key(event));
    root.replaceChildren(this.el);
    tips(this.el);
    addEventListener("popstate", () => this.show());
    onTabs(() => this.tab());
  }

  async begin() {
    try {
      const reply = await fetch(new URL(LISTING, import.meta.url));
      if (!reply.ok) throw new Error();
      this.systems = ordered((await reply.json()).systems, ROWS, COLUMNS);
    } catch {
      this.map.tell(ATLAS.failed);
      return;
    }
    this.map.list(this.systems);
    this.tab();
    this.el.dataset.ready = "true";
  }

  /** Whether this tab is the open one: where one was in it does not stay in the address of another. */
  tab() {
    const open = isOpen("atlas");
    if (open === this.open) return;
    this.open = open;
    document.body.classList.toggle("hx-atlas-open", open);
    if (open) this.show();
    else left();
  }

  /** @param {string|null} id */
  go(id) {
    go(id);
    this.show();
    scrollTo(0, 0);
  }

  /** Shows what the address asks for. */
  show() {
    if (!this.open || !this.systems.length) return;
    const { system: id, filter } = asked(ROWS, COLUMNS);
    const system = this.systems.find((one) => one.id === id);
    this.map.tell(id && !system ? ATLAS.unknown(id) : "");
    this.map.filter(filter);
    this.map.el.hidden = Boolean(system);
    this.place.hidden = !system;
    const was = this.shown;
    const moved = this.el.dataset.ready && was !== system?.id; // who arrives has the page's own focus
    this.shown = system?.id ?? null;
    if (system) this.card(system, filter, Boolean(moved));
    else if (was) (this.map.links.get(was) ?? this.map.title).focus({ preventScroll: false });
  }

  /** @param {System} system @param {Filter} filter @param {boolean} focused */
  card(system, filter, focused) {
    const left = filters(filter) ? this.systems.filter((one) => passes(one, filter)) : this.systems;
    const list = left.includes(system) ? left : this.systems;
    const { el, title } = systemCard(system, this.systems, list, {
      onOpen: (id) => this.go(id),
      onBack: () => this.go(null),
      onUse: use,
      onWatch: (recording) => void arrive(`?${new URLSearchParams({ recording })}`, () => {}),
    });
    this.place.replaceChildren(el);
    if (focused) title.focus({ preventScroll: true });
  }

  /** On a card the arrows turn to its neighbours, and Esc leads back to the map. @param {KeyboardEvent} event */
  key(event) {
    const { target, ctrlKey, metaKey, altKey, shiftKey } = event;
    const here = target === document.body || (target instanceof Node && this.el.contains(target));
    if (!this.open || !this.shown || !here || ctrlKey || metaKey || altKey || shiftKey) return;
    const step = KEYS[event.key];
    if (!step && event.key !== "Escape") return;
    if (step && target instanceof HTMLInputElement) return; // a slider's own keys
    event.preventDefault();
    if (!step) return this.go(null);
    const [before, after] = this.place.querySelectorAll(".hx-system-turn>button");
    /** @type {HTMLElement} */ (step > 0 ? after : before).click();
  }
}

const use = (/** @type {System} */ { stack, preset }) =>
  document.dispatchEvent(new CustomEvent("hx:use-stack", { detail: { stack, preset } }));
