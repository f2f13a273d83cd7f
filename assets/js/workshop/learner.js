/** A learner's page: it follows the instructor, says where the class is, and hands in what is answered. */

import { onAnswered } from "../tabs/learn/progress.js";
import { stageHere } from "../shared/player/within-reach.js";
import { arrive } from "../shared/share/arrive.js";
import { barsOf } from "./answer-bars.js";
import { barButton } from "./led-frame.js";
import { lessonsKnown, NO_LESSONS, stepOfTally, placeNamed } from "./known.js";
import { Refusal } from "./room.js";
import { WORKSHOP } from "../../text/en/workshop.js";

/** @import {Frame} from "./led-frame.js" @import {Room, Told} from "./room.js" */

const ARRIVING = "hx-room-arriving"; // in the session: what the page is being opened for
const TRIES = 4;

export class Learner {
  /** @param {Frame} frame @param {Room} room */
  constructor(frame, room) {
    this.frame = frame;
    this.room = room;
    this.followed = 0; // the number of what was followed last
    /** @type {Told|null} */ this.last = null;
    /** @type {Promise<unknown>} */ this.way = Promise.resolve();
    this.back = barButton("", () => this.last?.sent && this._go(this.last.sent.at));
    onAnswered(({ lesson, step, answer }) => {
      if (answer !== null) void this._hand(lesson, step, answer);
    });
  }

  /** @param {Told} told */
  async told(told) {
    this.last = told;
    const { sent, led, bars } = told;
    if (led && sent && sent.number !== this.followed) {
      this.followed = sent.number;
      if (!openedFor(sent.at)) this._go(sent.at);
    }
    const place = sent ? await placeNamed(sent.at) : "";
    if (told !== this.last) return;
    if (!sent) this.frame.tell(WORKSHOP.idle);
    else this.frame.tell(led ? WORKSHOP.leads(place) : WORKSHOP.freed(place), led ? "led" : "");
    this.back.textContent = led ? WORKSHOP.again : WORKSHOP.there;
    this.frame.controls(...(sent ? [this.back] : []));
    const { lessons: all } = bars ? await lessonsKnown() : NO_LESSONS;
    if (told !== this.last) return;
    this.frame.answers(bars ? { said: WORKSHOP.answers, bars: [barsOf(bars, stepOfTally(all, bars))] } : null);
  }

  /** @param {string} at */
  _go(at) {
    this.way = this.way
      .then(() => stageHere)
      .then(async () => {
        if (this.last?.sent?.at === at) await arrive(at, () => keep(at));
      });
  }

  /** @param {string} lesson @param {number} step @param {number} answer */
  async _hand(lesson, step, answer) {
    for (let tries = 0; tries < TRIES; tries += 1) {
      try {
        return await this.room.say("answer", { lesson, step, answer });
      } catch (error) {
        if (error instanceof Refusal) return null; // of the server: it will not take it next time either
        await new Promise((resolve) => setTimeout(resolve, 1000 * 2 ** tries));
      }
    }
    return null;
  }
}

/** Whether this page was just opened to show this. @param {string} at */
function openedFor(at) {
  try {
    const kept = sessionStorage.getItem(ARRIVING);
    sessionStorage.removeItem(ARRIVING);
    return kept === at;
  } catch {
    return new URL(at, location.href).href === location.href;
  }
}

/** @param {string} at */
function keep(at) {
  try {
    sessionStorage.setItem(ARRIVING, at);
  } catch {
    // the address alone tells
  }
}
