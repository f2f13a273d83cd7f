/** The menu of recordings: a button and a listbox, in groups by what they teach; each with its levels as letters, what to
 *  see in it and its speed-up. Arrow keys, Home, End and the first letters of a title move; Enter or Space chooses. */

import { closest, h, icon, popover } from "../../../shared/kit/dom.js";
import { ofRun, stated } from "../../../shared/levels/stated.js";
import { percent } from "../../../shared/run/spared.js";
import { RECORDED } from "../../../shared/visit/journey.js";
import { styleLevels } from "../../../shared/levels/kinds.js";
import { levelNames, stackName } from "../../../shared/levels/stack-names.js";
import { CLOCKS } from "../../../../text/en/lanes.js";
import { PRICE } from "../../../../text/en/run.js";
import { ratio } from "../../../../text/numbers.js";
import { WORDS } from "../../../../text/en/recordings.js";

const TYPED_MS = 700; // letters that come within this belong together

/** @typedef {{name: string, group: string, rank: number, see: string, title: string, stack: string, recorded: string,
 *    machine: string, reason: string, clock?: string, speed_up: number|null, spared?: number|null,
 *    levels: {kind: string, name: string, label: string, params: Record<string, any>}[]}} Recording */

/** @param {{recordings: Recording[], shown: () => string|null, onPick: (name: string) => void}} ctx shown: the run's name */
export function recordingsMenu({ recordings, shown, onPick }) {
  const list = h("div.hx-shelf-list", { role: "listbox", "aria-label": WORDS.button });
  const foot = h("p.hx-shelf-foot", { "aria-hidden": "true" });
  const panel = h("div.hx-shelf", [list, foot]);
  const button = h("button.hx-quiet.hx-recordings", { "aria-haspopup": "listbox" }, [
    h("span", WORDS.button),
    icon("down"),
  ]);
  /** @type {Map<HTMLElement, Recording>} */ const options = new Map();
  const items = () => [...options.keys()];
  const pick = (/** @type {HTMLElement|undefined} */ option) => {
    const one = option && options.get(option);
    if (!one || one.reason) return;
    pop.close();
    button.focus();
    onPick(one.name);
  };
  const tell = (/** @type {HTMLElement|undefined} */ option) => {
    const one = option && options.get(option);
    if (one) foot.textContent = about(one);
  };
  const mark = () => {
    for (const [option, one] of options) option.setAttribute("aria-selected", String(shown() === RECORDED + one.name));
  };
  const open = () => {
    mark();
    const current = items().find((option) => option.getAttribute("aria-selected") === "true") ?? items()[0];
    current?.focus();
    current?.scrollIntoView({ block: "nearest" });
  };
  const pop = popover(button, panel, { onOpen: open });

  for (const [title, group] of grouped(recordings)) {
    const heading = h("div.hx-shelf-title", { role: "presentation", text: title });
    const made = group.map((one) => {
      const option = optionOf(one);
      options.set(option, one);
      return option;
    });
    list.append(h("div", { role: "group", "aria-label": title }, [heading, made]));
  }
  if (!recordings.length) panel.replaceChildren(h("p.hx-item-note", WORDS.none));

  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    if (panel.hidden) button.click();
  });
  list.addEventListener("focusin", ({ target }) => {
    for (const option of items()) option.tabIndex = option === target ? 0 : -1;
    if (target instanceof HTMLElement) tell(target);
  });
  list.addEventListener("pointerover", (event) => tell(optionAt(event)));
  list.addEventListener("click", (event) => pick(optionAt(event)));
  const typed = typing(items, (option) => options.get(option)?.title ?? "");
  list.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const all = items();
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
    if (event.key in steps) all[Math.min(Math.max(0, steps[event.key]), all.length - 1)]?.focus();
    else if (event.key === "Enter" || (event.key === " " && !typed.goesOn())) pick(all[at]);
    else if (event.key.length === 1) typed.find(event.key, at)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return pop;
}

const optionAt = (/** @type {Event} */ event) => closest(event, '[role="option"]') ?? undefined;

/** Recordings by group, in the menu's order; those without a group are the others, at the end. @param {Recording[]} recordings */
function grouped(recordings) {
  /** @type {Map<string, Recording[]>} */ const groups = new Map();
  const ranked = recordings.map((one, i) => ({ one, i })).sort((a, b) => a.one.rank - b.one.rank || a.i - b.i);
  for (const { one } of ranked) {
    const title = one.group || WORDS.others;
    groups.set(title, [...(groups.get(title) ?? []), one]);
  }
  return groups;
}

/** @param {Recording} one */
function optionOf(one) {
  const names = levelNames(one.stack, one.levels);
  const looks = one.levels.length ? styleLevels(one.levels.map(({ kind }, i) => ({ kind, label: names[i] }))) : [];
  const speed = one.speed_up === null ? "" : `${stated("speed_up", ofRun(one), ratio(one.speed_up))}\u00d7`;
  const clock = CLOCKS[one.clock ?? ""];
  const price = one.spared == null ? "" : PRICE.short(percent(one.spared));
  const chips = [clock?.short, price].flatMap((text) => (text ? [h("span.hx-shelf-made", text)] : []));
  const told = [
    one.title,
    (one.reason || one.see).replace(/\.$/, ""),
    speed && `${ratio(one.speed_up ?? 0)} ${WORDS.times}`,
    clock?.short,
    price,
    looks.map((look) => look.name).join(", "),
  ];
  return h(
    "div.hx-shelf-item",
    {
      role: "option",
      tabindex: "-1",
      "aria-selected": "false",
      "aria-disabled": one.reason ? "true" : null,
      "aria-label": told.filter(Boolean).join(". "),
    },
    [
      h("span.hx-shelf-mark", { "aria-hidden": "true" }),
      h("span.hx-shelf-name", one.title),
      h("span.hx-shelf-levels", { "data-tip": one.stack || null }, looks.map(letter)),
      h("span.hx-shelf-speed", { "data-tip": clock ? WORDS.speedOn(clock.name) : WORDS.speedTip, text: speed }),
      h("span.hx-shelf-see", [chips, one.reason || one.see]),
    ],
  );
}

function letter(/** @type {{tag: string, hue: string, underline: string}} */ { tag, hue, underline }) {
  return h("b.hx-badge", { "data-line": underline, style: { "--hue": hue }, text: tag });
}

/** What its stack is called, and when and where it was recorded. @param {Recording} one */
function about(one) {
  const where = [one.recorded, one.machine].filter(Boolean).join(", ") || WORDS.noWhere;
  return [one.stack && stackName(one.stack), one.clock === "simulated" ? CLOCKS.simulated.said : WORDS.recorded(where)]
    .filter(Boolean)
    .join(" \u00b7 ");
}

/** Type-ahead: letters in quick succession are the beginning of a title; one letter again and again, the next such title.
 *  @param {() => HTMLElement[]} items @param {(item: HTMLElement) => string} titleOf */
function typing(items, titleOf) {
  let typed = "";
  let last = -Infinity;
  const goesOn = () => performance.now() - last < TYPED_MS;
  return {
    goesOn,
    /** @param {string} key @param {number} from the place that has the focus */
    find(key, from) {
      typed = (goesOn() ? typed : "") + key.toLowerCase();
      last = performance.now();
      const all = items();
      const again = [...typed].every((c) => c === typed[0]);
      const start = again ? from + 1 : Math.max(0, from);
      const begins = (/** @type {HTMLElement} */ item) =>
        titleOf(item)
          .toLowerCase()
          .startsWith(again ? typed[0] : typed);
      return [...all.slice(start), ...all.slice(0, start)].find(begins);
    },
  };
}
