/** The instructor's bar: sends what is open to all screens, frees them, shows the room's code and what is answered. In the
 *  window with the notes of a class, what is open is the stop that the notes are at. */

import { TwoWindows } from "../tabs/learn/class/stops.js";
import { h, say, icon } from "../shared/kit/dom.js";
import { saveBlob } from "../shared/kit/files.js";
import { tabOf } from "../shared/share/arrive.js";
import { presenting } from "../shared/player/presenter.js";
import { stageHere } from "../shared/player/within-reach.js";
import { barsOf, plain } from "./answer-bars.js";
import { barButton, fit } from "./led-frame.js";
import { askedAt, lessonsKnown, notedAt, NO_LESSONS, ofNotes, stepOfTally, placeNamed } from "./known.js";
import { FIRST, isAnother, openAddress, sendable, trace } from "./sendable.js";
import { WORKSHOP } from "../../text/en/workshop.js";
import { codePicture, showOverAll } from "../shared/share/code.js";

/** @import {Reach} from "../shared/player/within-reach.js"
 *  @import {Lesson} from "../tabs/learn/figures/run-figures.js" @import {Frame} from "./led-frame.js"
 *  @import {Given, Room, Told} from "./room.js" */

const LOOK_MS = 500;
const ANSWERS_MS = 300; // until a window for the projector that is in sight has said so

export class Instructor {
  /** @param {Frame} frame @param {Room} room */
  constructor(frame, room) {
    this.frame = frame;
    this.room = room;
    /** @type {Told|null} */ this.last = null;
    this.place = ""; // what was sent, as it is called
    /** @type {boolean|null} */ this.wanted = null; // what the box was set to, until the room knows
    /** @type {Reach|null} */ this.reach = null;
    this.known = NO_LESSONS;
    this.seen = ""; // what this window showed at the last look
    this.sent = ""; // what it showed when that was sent, or need not be
    const ask = (/** @type {string} */ what, /** @type {object} */ data) => this._ask(() => room.say(what, data));
    this.send = barButton("", () => this._ask(() => this._send()), "go");
    fit(this.send, WORKSHOP.send, WORKSHOP.sendShort);
    this.box = /** @type {HTMLInputElement} */ (
      h("input", { type: "checkbox", onchange: () => this._keep(this.box.checked) })
    );
    this.keeps = h("label.hx-room-keeps", [this.box, fit(h("span"), WORKSHOP.keeps, WORKSHOP.keepsShort)]);
    this.release = fit(
      barButton("", () => ask("free", {})),
      WORKSHOP.release,
      WORKSHOP.releaseShort,
    );
    this.code = barButton("", () => this.poster());
    this.code.title = WORKSHOP.codeTip;
    this.csv = barButton(WORKSHOP.csv, () => this._ask(() => this._save()));
    this.csv.title = WORKSHOP.csvTip;
    this.show = barButton("", () => ask("show", this.last?.bars ? {} : (this._question() ?? {})));
    this.counted = h("div.hx-room-do", [this.show, this.csv]);
    this.windows = new TwoWindows((said) => said.at && said.seen && this.projector());
    this.projector = () => {};
    void stageHere.then((reach) => (this.reach = reach));
    void lessonsKnown().then((known) => {
      this.known = known;
      this.draw();
    });
    setInterval(() => this._look(), LOOK_MS);
  }

  /** @param {Told} told */
  async told(told) {
    this.last = told;
    const place = told.led && told.sent ? await placeNamed(told.sent.at) : "";
    if (told !== this.last) return;
    this.place = place;
    this.draw();
  }

  draw() {
    const { last, place, frame } = this;
    if (!last) return;
    const here = this._here();
    const line = isAnother(here, last.sent?.at) ? WORKSHOP.still : WORKSHOP.screens;
    frame.tell(place ? line(place) : WORKSHOP.free, place ? "led" : "");
    fit(frame.aside, WORKSHOP.here(last.here ?? 0), WORKSHOP.hereShort(last.here ?? 0));
    fit(this.code, WORKSHOP.code(last.code ?? ""), last.code ?? "");
    this.box.checked = this.wanted ?? Boolean(last.keeps);
    this.release.toggleAttribute("disabled", !last.led);
    this.send.toggleAttribute("disabled", here === null);
    this.send.title = here === null ? WORKSHOP.unsent : "";
    frame.controls(this.send, this.keeps, this.release, this.code);
    this._answers();
  }

  /** The way into the room over the whole window. */
  poster() {
    if (this.last) showPoster(this.last, this.code);
  }

  /** The address of what this window is about, without the moment of a run; null where it is for the instructor alone. */
  _here() {
    return ofNotes(location.search) ? notedAt(this.known, location.search) : sendable(location.search);
  }

  /** The question that is open here, or else on all screens. */
  _question() {
    const { lessons } = this.known;
    return askedAt(lessons, this._here() ?? "") ?? askedAt(lessons, this.last?.sent?.at ?? "");
  }

  /** The bars of the open question. On a projector, where this window is presented or holds a class, not until they are
   *  shown to all. */
  _answers() {
    const open = this._question();
    const tally = this.last?.tallies?.find((one) => one.lesson === open?.lesson && one.step === open.step);
    if (!open || !tally) return this.frame.answers(null);
    const { bars } = this.last ?? {};
    const shown = bars?.lesson === open.lesson && bars.step === open.step;
    say(this.show, shown ? WORKSHOP.hide : WORKSHOP.show);
    const holds = new URLSearchParams(location.search).has("stop") && !ofNotes(location.search);
    const drawn = (holds || presenting()) && !shown ? [] : [barsOf(tally, stepOfTally(this.known.lessons, open))];
    this.frame.answers({ said: WORKSHOP.answered(tally.total), bars: [...drawn, this.counted] });
  }

  async _send() {
    const reach = await stageHere;
    const at = ofNotes(location.search) ? this._here() : await openAddress(reach);
    if (at === null) throw new Error(WORKSHOP.unsent);
    this.sent = trace(reach);
    await this.room.say("send", { at });
  }

  async _save() {
    const { answers } = await this.room.answers();
    const { lessons } = await lessonsKnown();
    const text = `\ufeff${answersCsv(answers, lessons)}`; // by its first character spreadsheets know UTF-8
    saveBlob(new Blob([text], { type: "text/csv" }), `hsd_answers_${new Date().toISOString().slice(0, 10)}.csv`);
  }

  /** @param {boolean} on */
  _keep(on) {
    this.wanted = on;
    void this._ask(async () => {
      try {
        await this.room.say("keep", { on });
        if (this.last) this.last.keeps = on;
      } finally {
        this.wanted = null;
        this.draw();
      }
      if (on && this._here() !== null) await this._send();
    });
  }

  /** What is opened here next goes to all screens too, once it rests. */
  _look() {
    const { reach, last } = this;
    if (!reach || !last) return;
    const now = trace(reach);
    const plays = tabOf(location.search) === FIRST && reach.player.playing;
    const rests = now === this.seen && !plays;
    if (now !== this.seen) this.draw();
    this.seen = now;
    if (!last.keeps || document.hidden) this.sent = now;
    else if (rests && now !== this.sent) {
      this.sent = now;
      if (this._here() !== null) void this._ask(() => this._sendNext());
    }
  }

  /** With the projector's window in sight, that one sends where the notes led it. */
  async _sendNext() {
    if (!ofNotes(location.search) || !(await this._projected())) await this._send();
  }

  /** @returns {Promise<boolean>} */
  _projected() {
    return new Promise((resolve) => {
      this.projector = () => resolve(true);
      this.windows.say({ ask: true });
      setTimeout(() => resolve(false), ANSWERS_MS);
    });
  }

  /** @param {() => Promise<unknown>} action */
  async _ask(action) {
    try {
      await action();
    } catch (/** @type {any} */ error) {
      this.frame.tell(WORKSHOP.failed(error?.message || String(error)), "failed");
    }
  }
}

// The answers of a class as a table for a spreadsheet: one line for each answer that was given, and how many gave it.

/** @param {Given[]} given @param {Lesson[]} lessons @returns {string} comma-separated, by RFC 4180 */
export function answersCsv(given, lessons) {
  const rows = given.flatMap(({ lesson: id, step: number, answers }) => {
    const step = stepOfTally(lessons, { lesson: id, step: number });
    const { ask = "", choices, number: estimate } = step?.question ?? {};
    const asked = /\$/.test(ask) ? (step?.title ?? "") : plain(ask); // figures of a run are filled in by the lesson
    const title = lessons.find((one) => one.id === id)?.title ?? "";
    return [...new Set(answers)].map((answer) => [
      ...[id, title, number, asked],
      choices ? plain(choices[answer]?.text) || WORKSHOP.choice(answer + 1) : answer,
      estimate?.unit ?? "",
      answers.filter((one) => one === answer).length,
    ]);
  });
  return [WORKSHOP.csvColumns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** A spreadsheet takes a text that begins like a formula for one, unless an apostrophe says that it is text.
 *  @param {string|number} value */
function cell(value) {
  const text =
    typeof value === "number" ? String(value) : value.replace(/^(?=\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The way into the room, to be read from the back of a hall: its address, its code, and a QR code of both.

const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])(:|$)/; // of a host: nobody else reaches it
const words = WORKSHOP.poster;

/** The page's address for learners: this window's own, unless that is of this machine alone. @param {string} told */
const pageAddress = (told) => (LOCAL.test(location.host) && told ? told : location.origin + location.pathname);

/** What the class has to be told of an address that only this machine can open, "" of another. @param {string} page */
export const warningOf = (page) => (LOCAL.test(new URL(page).host) ? words.here : "");

/** @param {Told} told @param {HTMLElement} opener gets the focus back */
function showPoster({ code = "", address = "" }, opener) {
  const page = pageAddress(address);
  const close = h("button.hx-room-close", { "aria-label": words.close, onclick: () => dialog.close() }, icon("remove"));
  const picture = h("div.hx-room-qr");
  const dialog = h("dialog.hx-room-poster", { "aria-label": words.title }, [
    close,
    picture,
    h("div.hx-room-way", [
      h("p", words.open),
      h("p.hx-room-address", page.replace(/^http:\/\/|\/$/g, "")),
      h("p", words.enter),
      h("p.hx-room-word", code),
      warningOf(page) && h("p.hx-room-here", { role: "alert", text: warningOf(page) }),
    ]),
  ]);
  codePicture(`${page}?room=${encodeURIComponent(code)}`, words.label).then(
    (drawn) => picture.append(drawn),
    () => picture.append(h("p", words.failed)),
  );
  showOverAll(dialog, opener, document.body);
}
