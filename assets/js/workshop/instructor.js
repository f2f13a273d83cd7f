/** The instructor's bar: sends what is open to all screens, frees them, shows the room's code and what is answered. */

import { h, say } from "../kit/dom.js";
import { presenting } from "../stage/title/presenter.js";
import { stageHere } from "../stage/within-reach.js";
import { barsOf } from "./answer-bars.js";
import { barButton } from "./led-frame.js";
import { placeName } from "./place-name.js";
import { showPoster } from "./poster.js";
import { askedAt, lessons, stepOfTally } from "./questions.js";
import { openAddress, sendable, trace } from "./sendable.js";
import { WORKSHOP } from "../words/workshop.js";

const LOOK_MS = 500;

export class Instructor {
  /** @param {import("./led-frame.js").Frame} frame @param {import("./room.js").Room} room */
  constructor(frame, room) {
    this.frame = frame;
    this.room = room;
    /** @type {import("./room.js").Told|null} */ this.last = null;
    /** @type {import("../stage/within-reach.js").Reach|null} */ this.reach = null;
    /** @type {any[]} */ this.lessons = [];
    this.seen = ""; // what this window showed at the last look
    this.sent = ""; // what it showed when that was sent, or need not be
    const ask = (/** @type {string} */ what, /** @type {object} */ data) => this._ask(() => room.say(what, data));
    this.send = barButton(WORKSHOP.send, () => this._ask(() => this._send()), "go");
    this.box = /** @type {HTMLInputElement} */ (
      h("input", { type: "checkbox", onchange: () => this._keep(this.box.checked) })
    );
    this.keeps = h("label", { class: "hx-room-keeps" }, this.box, h("span", { text: WORKSHOP.keeps }));
    this.release = barButton(WORKSHOP.release, () => ask("free", {}));
    this.code = barButton("", () => this.poster());
    this.code.title = WORKSHOP.codeTip;
    this.show = barButton("", () => ask("show", this.last?.bars ? {} : (this._question() ?? {})));
    void stageHere.then((reach) => (this.reach = reach));
    void lessons().then((found) => {
      this.lessons = found;
      this.draw();
    });
    setInterval(() => this._look(), LOOK_MS);
  }

  /** @param {import("./room.js").Told} told */
  told(told) {
    this.last = told;
    this.draw();
  }

  draw() {
    const { last, frame } = this;
    if (!last) return;
    const { recordings = [] } = this.reach ?? {};
    const place = last.led && last.sent ? placeName(last.sent.at, { recordings }) : "";
    frame.tell(place ? WORKSHOP.screens(place) : WORKSHOP.free, place ? "led" : "");
    say(frame.aside, WORKSHOP.here(last.here ?? 0));
    say(this.code, WORKSHOP.code(last.code ?? ""));
    this.box.checked = Boolean(last.keeps);
    this.release.toggleAttribute("disabled", !last.led);
    const own = sendable(location.search) !== null;
    this.send.toggleAttribute("disabled", !own);
    this.send.title = own ? "" : WORKSHOP.unsent;
    frame.controls(this.send, this.keeps, this.release, this.code);
    this._answers();
  }

  /** The way into the room over the whole window. */
  poster() {
    if (this.last) showPoster(this.last, this.code);
  }

  /** The question that is open here, or else on all screens. */
  _question() {
    return askedAt(this.lessons, location.search) ?? askedAt(this.lessons, this.last?.sent?.at ?? "");
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
    const projected = presenting() || new URLSearchParams(location.search).has("stop");
    const drawn = projected && !shown ? [] : [barsOf(tally, stepOfTally(this.lessons, open))];
    this.frame.answers({ said: WORKSHOP.answered(tally.total), bars: [...drawn, this.show] });
  }

  async _send() {
    const reach = await stageHere;
    const at = await openAddress(reach);
    if (at === null) throw new Error(WORKSHOP.unsent);
    this.sent = trace(reach);
    await this.room.say("send", { at });
  }

  /** @param {boolean} on */
  _keep(on) {
    void this._ask(async () => {
      await this.room.say("keep", { on });
      if (on && sendable(location.search) !== null) await this._send();
    });
  }

  /** What is opened here next goes to all screens too, once it rests. */
  _look() {
    const { reach, last } = this;
    if (!reach || !last) return;
    const now = trace(reach);
    const rests = now === this.seen && !reach.player.playing;
    if (now !== this.seen) this.draw();
    this.seen = now;
    if (!last.keeps) this.sent = now;
    else if (rests && now !== this.sent) {
      this.sent = now;
      if (sendable(location.search) !== null) void this._ask(() => this._send());
    }
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
