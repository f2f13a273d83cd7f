/** The Race tab: stacks side by side on one clock, recorded, raced here and now, or brought as a file. `mount` is called
 *  once by its component. */

import { heard, translated } from "../../../text/heard.js";
import { faceButton, h, tips } from "../../shared/kit/dom.js";
import { newName, readBase64, gzipped, saveGzip, traceName } from "../../shared/kit/files.js";
import { learned } from "../../shared/levels/kinds.js";
import { createNote } from "../../shared/kit/note.js";
import { loadStyles } from "../../shared/kit/styles.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { rememberTheme } from "../../shared/kit/theme.js";
import { pendingBefore } from "../../shared/visit/pending.js";
import { onArrival } from "../../shared/share/arrive.js";
import { createCompare, firstPair, pairOf } from "./compare.js";
import { LaneModel } from "./replay/lanes.js";
import { livePanel } from "./live.js";
import { originCard, raceSays } from "./race-says.js";
import { COMPARE, LOAD, WORDS } from "../../../text/en/race.js";
import { TEXT } from "../../../text/en/text.js";
import { createReplay } from "./replay/replay.js";
import { eventLines } from "../../shared/run/trace.js";

/** @import {Ports} from "../../shared/visit/session.js" @import {Race} from "./replay/lanes.js" */

const NO_RACE = "-"; // what the menu of races says while two runs are compared

/** @param {HTMLElement} root
 *  @param {{props: {setup: string, value: string}, watch: (name: string, f: () => void) => void, root: string} &
 *    Ports} ports */
export async function mount(root, ports) {
  rememberTheme();
  await loadStyles("planner", "race");
  const setup = translated(JSON.parse(ports.props.setup));
  await learned;
  const page = new RacePage(root.querySelector(".hx-root") ?? root, setup, ports);
  ports.watch("value", () => {
    const payload = ports.props.value && JSON.parse(ports.props.value);
    if (payload) page.live.apply(payload);
    if (payload) page.requests?.apply(payload);
  });
  await page.begin();
  onArrival("race", () => page.arrive());
}

class RacePage {
  constructor(/** @type {Element} */ root, /** @type {any} */ setup, /** @type {any} */ ports) {
    this.setup = setup;
    this.ports = ports;
    this.base = ports.root;
    /** @type {Race|null} */ this.shown = null;
    this._turn = 0; // of what is asked for to be shown: the last one counts
    this.note = createNote();
    this.replay = createReplay({
      onPlay: (lane) => this.attempt(() => this.toPlay(lane)),
      onSave: (lane) => this.attempt(() => this.saveLane(lane)),
    });
    this.live = livePanel({
      setup,
      ports,
      onRace: (race) => {
        this.own = race;
        this.setUp(false);
        this.show(race);
      },
    });
    this.noRace = h("option", { value: NO_RACE, hidden: true, text: COMPARE.races });
    this.pick = h("select.hx-select.hx-race-pick", {
      "aria-label": WORDS.choose,
      onchange: () => this.attempt(() => this.choose(this.pick.value)),
    });
    this.compare = createCompare({
      menu: setup.recordings,
      replay: this.replay,
      attempt: (action) => this.attempt(action),
    });
    this.comparer = h("button.hx-quiet", {
      "aria-pressed": "false",
      text: COMPARE.open,
      onclick: () => this.attempt(() => (this.compare.el.hidden ? this.pair(null) : this.choose(this.last))),
    });
    /** @type {Awaited<ReturnType<RacePage["_load"]>>|null} */ this.requests = null; // of many requests, once it was opened
    this.requestsButton = h("button.hx-quiet", {
      "aria-pressed": "false",
      text: LOAD.open,
      onclick: () => this.attempt(() => (this.ofMany ? this.few() : this.many(null))),
    });
    this.opener = h("button.hx-quiet", {
      "aria-expanded": "false",
      text: WORDS.setUp,
      onclick: () => this.setUp(Boolean(this.live.el.hidden)),
    });
    const file = h("input.hx-sr", {
      type: "file",
      accept: ".jsonl,.gz,application/gzip,application/json",
      tabindex: "-1",
      "aria-hidden": "true",
      onchange: () => {
        const chosen = file.files?.[0];
        if (chosen) this.attempt(() => this.open(chosen));
        file.value = "";
      },
    });
    this.lead = h("p.hx-plan-text", WORDS.lead);
    this.title = h("h2.hx-race-title", { tabindex: "-1" });
    this.about = h("p.hx-race-about");
    this.subject = h("div.hx-race-subject", [this.title, this.about]);
    this.origin = h("div");
    this.empty = h("p.hx-panel.hx-race-empty", WORDS.loading);
    this.el = h("div.hx-stage.hx-planner.hx-race", { "data-empty": "true" }, [
      h("header.hx-race-top", [
        h("h1", WORDS.title),
        this.lead,
        h("div.hx-race-tools", [
          this.pick,
          this.comparer,
          this.requestsButton,
          this.opener,
          faceButton("open", WORDS.openFile, () => file.click()),
          faceButton("save", WORDS.save, () => this.attempt(() => this.save())),
          file,
        ]),
      ]),
      this.live.el,
      this.subject,
      this.compare.el,
      this.empty,
      this.replay.el,
      this.origin,
      this.note.el,
    ]);
    root.replaceChildren(this.el);
    tips(this.el);
    this.el.dataset.drop = WORDS.dropHint;
    takesFiles(this.el, (file) => this.attempt(() => this.open(file)));
  }

  async begin() {
    const reply = await fetch(this.base + this.setup.races).catch(() => null);
    /** @type {any[]} */ this.menu = reply?.ok ? translated(await reply.json()) : [];
    this.fill();
    await this.arrive();
  }

  /** Shows the race, or the two runs, that the address names. */
  async arrive() {
    const asked = new URLSearchParams(location.search).get("race") ?? "";
    const known = this.menu.some((one) => one.name === asked);
    if (asked && !known) this.note.tell(WORDS.noSuchRace(asked.slice(0, 80)), "error");
    const name = known ? asked : this.menu[0]?.name;
    this.last = name ?? "";
    const load = new URLSearchParams(location.search).get("load");
    if (load !== null || pendingBefore("load")) return this.attempt(() => this.many(load));
    const pair = new URLSearchParams(location.search).get("compare");
    const two = pair === "" ? firstPair(this.setup.recordings) : pairOf(pair, this.setup.recordings);
    if (pair && !two) this.note.tell(WORDS.noSuchPair(pair.slice(0, 80)), "error");
    if (two) await this.attempt(() => this.pair(two));
    else if (name) await this.attempt(() => this.choose(name, !known));
    else {
      this.empty.textContent = WORDS.noRaces;
      this.setUp(true);
    }
  }

  fill() {
    const own = this.own ? [h("option", { value: "", text: WORDS.own })] : [];
    this.pick.replaceChildren(
      ...own,
      ...(this.menu ?? []).map(({ name, title }) => h("option", { value: name, text: title })),
    );
    this.pick.value = this.shown?.name ?? "";
  }

  /** @param {string} name @param {boolean} [still] the address need not say so */
  async choose(name, still = false) {
    if (!name) return void (this.own && this.show(this.own));
    const turn = ++this._turn;
    try {
      const reply = await fetch(`${this.base}${this.setup.races}/${encodeURIComponent(name)}`);
      const race = reply.headers.get("content-type")?.includes("json")
        ? await reply.json()
        : { error: WORDS.status(reply.status) };
      if (race.error) throw new Error(WORDS.notOpened(race.error));
      if (turn !== this._turn) return;
      this.show(race);
    } catch (error) {
      if (turn === this._turn) this.pick.value = this.compare.el.hidden ? (this.shown?.name ?? "") : NO_RACE;
      throw error;
    }
    if (!still) setQuery({ race: name });
  }

  /** Two recordings, side by side. @param {[string, string]|null} two */
  async pair(two) {
    this._turn += 1;
    this.comparing(true);
    await this.compare.open(two ?? firstPair(this.setup.recordings));
    this.el.dataset.empty = "false";
    this.empty.hidden = true;
  }

  /** Many requests at once. @param {string|null} asked how many */
  async many(asked) {
    this._turn += 1;
    this.comparing(true);
    if (!this.compare.el.hidden) this.compare.close();
    this.comparer.setAttribute("aria-pressed", "false");
    this.requests ??= await this._load();
    this.setUp(false);
    this.showMany(true);
    this.replay.player.pause();
    await this.requests.open(asked);
  }

  /** The race that was shown before. */
  few() {
    this.comparing(false);
    return this.choose(this.last);
  }

  async _load() {
    const { createLoad } = await import("./many-requests.js");
    const load = createLoad({
      setup: this.setup,
      ports: this.ports,
      base: this.base,
      onPlay: (lane) => this.attempt(() => this.toPlay(lane)),
      onSave: (lane) => this.attempt(() => this.saveLane(lane)),
      attempt: (action) => this.attempt(action),
    });
    this.origin.after(load.el);
    return load;
  }

  get ofMany() {
    return this.el.dataset.load === "true";
  }

  /** Whether many requests are shown, and nothing else. @param {boolean} on */
  showMany(on) {
    this.requestsButton.setAttribute("aria-pressed", String(on));
    this.el.dataset.load = String(on);
    this.lead.textContent = on ? LOAD.lead : WORDS.lead;
    if (!on && this.requests && !this.requests.el.hidden) this.requests.close();
  }

  /** @param {boolean} on */
  comparing(on) {
    this.showMany(false);
    this.comparer.setAttribute("aria-pressed", String(on));
    this.subject.hidden = on;
    this.origin.hidden = on;
    if (on) {
      this.pick.prepend(this.noRace);
      this.pick.value = NO_RACE;
      return;
    }
    this.noRace.remove();
    if (!this.compare.el.hidden) this.compare.close();
  }

  /** A race's file that the visitor brings. @param {File} file */
  async open(file) {
    const { file: limit } = this.setup.limits;
    if (file.size > limit) throw new Error(WORDS.tooLarge(limit / 2 ** 20));
    const turn = ++this._turn;
    const base64 = await readBase64(file);
    const found = await this.ports.call.open_race({ name: file.name, base64, run: newName() });
    if (found?.status?.mode === "error") throw new Error(found.status.text);
    if (turn !== this._turn) return;
    this.own = found;
    this.show(found);
  }

  /** @param {Race} race */
  show(race) {
    this.comparing(false);
    this.shown = race;
    this.last = race.name;
    const lanes = race.lanes.map((row) => new LaneModel(row.records, row));
    this.title.textContent = heard(race.race.title ?? "") || WORDS.own;
    this.about.textContent = heard(race.race.about ?? "");
    this.el.dataset.empty = "false";
    this.empty.hidden = true;
    this.replay.show(lanes, {
      says: lanes.map((_, i) => raceSays(lanes, i, race)),
    });
    this.origin.replaceChildren(originCard(race));
    this.fill();
    if (!race.name) setQuery({ race: null });
  }

  /** @param {boolean} on */
  setUp(on) {
    if (on && this.ofMany) this.attempt(() => this.few());
    if (on) this.live.open();
    else this.live.close();
    this.opener.setAttribute("aria-expanded", String(on));
    this.opener.textContent = on ? WORDS.close : WORDS.setUp;
  }

  async save() {
    if (this.shown) this.note.tell(WORDS.saved(await saveRace(this.shown)));
  }

  async saveLane(/** @type {LaneModel} */ lane) {
    this.note.tell(TEXT.saved(await saveLane(lane)));
  }

  /** The lane as a trace, opened where one sees all of it. @param {LaneModel} lane */
  async toPlay(lane) {
    const file = await laneFile(lane);
    this.replay.player.pause();
    document.dispatchEvent(new CustomEvent("hx:open-file", { detail: { file } }));
  }

  async attempt(/** @type {() => unknown} */ action) {
    try {
      await action();
    } catch (/** @type {any} */ error) {
      this.note.tell(error?.message || String(error), "error");
    }
  }
}

// Races and their lanes as files: saved, handed to Explore, dropped onto the tab.

/** @param {Race} shown @returns {Promise<string>} the file's name */
async function saveRace({ race, lanes }) {
  const text = [JSON.stringify(race), ...lanes.map((lane) => eventLines(lane.records).trimEnd())].join("\n");
  const name = `race-${(race.title || "own").replace(/[^\w-]+/g, "-").toLowerCase()}.jsonl.gz`;
  await saveGzip(`${text}\n`, name);
  return name;
}

/** A lane's file. @param {LaneModel} lane */
const fileName = ({ model, stack }) => traceName(model.header ?? { stack });

/** @param {LaneModel} lane @returns {Promise<string>} the file's name */
export async function saveLane(lane) {
  const name = fileName(lane);
  await saveGzip(eventLines(lane.records), name);
  return name;
}

/** The lane as a trace. @param {LaneModel} lane */
const laneFile = async (lane) => new File([await gzipped(eventLines(lane.records))], fileName(lane));

/** Files that are dropped anywhere on an element are its own; it shows so while one is held over it.
 *  @param {HTMLElement} el @param {(file: File) => void} onFile */
function takesFiles(el, onFile) {
  const over = (/** @type {boolean} */ yes) => el.classList.toggle("hx-race-drop", yes);
  el.addEventListener("dragover", (event) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  el.addEventListener(
    "dragleave",
    (event) => (event.relatedTarget instanceof Node && el.contains(event.relatedTarget)) || over(false),
  );
  el.addEventListener("drop", (event) => {
    over(false);
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    onFile(file);
  });
}
