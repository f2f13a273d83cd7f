/** Many requests at once: a slider over loads, what is best there, and the map of levels by load. Asked for when it is
 *  seen. */

import { h, say } from "../../shared/kit/dom.js";
import { pictureButton } from "../../shared/kit/picture/button.js";
import { loadStyles } from "../../shared/kit/styles.js";
import { svg } from "../../shared/kit/svg.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { nameOfStack } from "../../shared/levels/stack-names.js";
import {
  anyCell,
  drawLoadMap,
  loadLegend,
  loadTable,
  mapPlaces,
  measuredTable,
  readDrops,
  readLoad,
  readUnused,
} from "../../shared/plots/load-map.js";
import { LOAD } from "../../../text/en/load.js";
import { stopsSlider } from "./another/curve.js";
import { styled } from "./profile/profile.js";

/** @import {Hear} from "./another/asker.js" @import {Source} from "./profile/profile.js"
 *  @import {LoadMap, Looks} from "../../shared/plots/load-map.js" */

const FIRST = 8; // requests that are shown at first

/** @param {{asks: (hear: Hear) => {ask: (question: any) => any}, onUse: (stack: string) => void, onSource: (source: Source) => void,
 *    seen: () => boolean}} ctx */
export async function loadView(ctx) {
  await loadStyles("load");
  /** @type {LoadMap|null} */ let map = null;
  /** @type {Looks} */ let looks = new Map();
  /** @type {any} */ let wanted = null; // a question that was not asked yet
  let load = Number(new URLSearchParams(location.search).get("requests")) || FIRST;
  const answer = h("p.hx-load-answer", { role: "status", "aria-live": "polite", text: LOAD.asking });
  const below = h("p.hx-load-below");
  const drops = h("p.hx-load-drops");
  const on = h("p.hx-load-on");
  const picture = svg("svg.hx-lm", { role: "img" });
  const room = h("div", [picture]);
  const slider = stopsSlider((i) => map && turn(map.rows[i].load));
  slider.name(LOAD.slider);
  const use = h("button.hx-go", { text: LOAD.use, "data-tip": LOAD.useTip });
  const stack = h("div.hx-al-stack");
  const legend = h("div");
  const machines = h("div.hx-load-machines", { role: "group", "aria-label": LOAD.machines });
  const table = h("div.hx-figure-scroll", { tabindex: "0", role: "group", "aria-label": LOAD.table });
  const unused = h("p.hx-load-drops");
  const whole = h("p.hx-load-drops");
  const ran = h("details.hx-figure-data", { hidden: true });
  const shown = h("div.hx-load-body", { hidden: true }, [
    below,
    slider.el,
    h("div.hx-pictured", [
      drops,
      pictureButton(
        () => room,
        () => LOAD.map,
      ),
    ]),
    room,
    legend,
    h("div.hx-al-use", [use, stack]),
    h("details.hx-figure-data", [h("summary", LOAD.asTable), table, unused, whole]),
    ran,
  ]);
  const el = h("section.hx-panel.hx-load", { "aria-label": LOAD.label }, [
    h("h2.hx-al-question", LOAD.question),
    answer,
    shown,
    on,
    machines,
  ]);
  new ResizeObserver(() => draw()).observe(el);
  picture.addEventListener("click", (event) => {
    const wide = picture.getBoundingClientRect();
    if (map) turn(map.rows[mapPlaces(map, looks, wide.width).at(event.clientX - wide.left)].load);
  });
  const asker = ctx.asks({
    onAnswer: (found, question) => show(found, question.profile),
    onRefusal: (text) => {
      shown.hidden = true;
      say(answer, text);
      el.dataset.ready = "refused";
    },
  });

  /** @param {number} to requests */
  function turn(to) {
    load = to;
    setQuery({ requests: String(to) });
    read();
    draw();
  }

  /** The place of the load shown, or of the nearest one below it. */
  const place = () => Math.max(0, map?.rows.findLastIndex((row) => row.load <= load) ?? 0);

  function read() {
    if (!map) return;
    const row = map.rows[place()];
    const [first, second] = readLoad(map, looks, place());
    say(answer, first);
    say(below, second);
    slider.stand(
      map.rows.map((one) => one.load),
      row.load,
      LOAD.requests,
    );
    picture.setAttribute("aria-label", `${LOAD.map}. ${first} ${second} ${drops.textContent}`);
    use.onclick = () => ctx.onUse(row.stack);
    use.hidden = !row.runs;
    stack.replaceChildren(nameOfStack(row.stack));
    const lines = /** @type {NodeListOf<HTMLElement>} */ (table.querySelectorAll("tbody tr"));
    for (const line of lines) line.dataset.now = String(Number(line.dataset.load) === row.load);
  }

  function draw() {
    if (!map || !room.clientWidth) return;
    const high = drawLoadMap(picture, map, looks, place(), Math.max(280, room.clientWidth));
    picture.setAttribute("height", String(high));
  }

  /** @param {LoadMap} found @param {import("./profile/profile.js").Profile} profile */
  function show(found, profile) {
    map = found;
    looks = styled(profile);
    shown.hidden = false;
    say(drops, readDrops(found, looks));
    say(unused, readUnused(found, looks));
    const { about = {} } = profile;
    const flat = profile.levels.every(({ cost_ms: costs }) => Object.keys(costs).length === 1);
    const said = about.simulated
      ? LOAD.assumed(about.machine ?? "")
      : LOAD.on(about, found.passes, anyCell(found, true));
    say(on, flat ? `${said} ${LOAD.constant}` : said);
    whole.replaceChildren(...(found.table ? [LOAD.asStack, " ", h("code", found.table)] : []));
    legend.replaceChildren(loadLegend(found));
    table.replaceChildren(loadTable(found, looks));
    ran.hidden = !found.measured;
    if (found.measured) {
      const name = LOAD.measured(found.measured.about);
      const scroll = { tabindex: "0", role: "group", "aria-label": name };
      ran.replaceChildren(h("summary", name), h("div.hx-figure-scroll", scroll, measuredTable(found.measured)));
    }
    read();
    draw();
    el.dataset.ready = "true";
  }

  function ask() {
    if (!wanted || !ctx.seen()) return;
    const question = wanted;
    wanted = null;
    asker.ask(question);
  }

  return {
    el,
    /** It was opened. */
    wake() {
      ask();
      draw();
    },
    /** The profile, or its numbers, have changed. @param {any} question @param {Source} source @param {Source[]} sources */
    stale(question, source, sources) {
      wanted = question;
      const others = sources.filter((one) => one === source || one === sources[0] || computedFor(one));
      const pressed = machines.contains(document.activeElement);
      machines.replaceChildren(h("span", LOAD.machines), ...machineButtons(others, source, ctx.onSource));
      if (pressed) /** @type {HTMLElement|null} */ (machines.querySelector("[aria-pressed=true]"))?.focus();
      ask();
    },
  };
}

/** The machine whose costs a profile computes. @param {Source} source @returns {string} */
const computedFor = ({ profiles: [first] }) => (first?.about?.simulated && first.about.machine) || "";

/** @param {Source[]} sources @param {Source} now @param {(source: Source) => void} onSource */
const machineButtons = (sources, now, onSource) =>
  sources.map((source) =>
    h("button.hx-quiet", {
      text: source.title,
      "aria-pressed": String(source === now),
      onclick: () => onSource(source),
    }),
  );
