/** Asks the server for answers: one question on its way at a time, and of those that wait only the latest. */

import { PLANNER } from "../../../../text/en/planner.js";

/** @typedef {{profile: import("../profile/profile.js").Profile, source: string, figures?: string[], dark?: boolean, width?: number, agreement?: number|null}} Question */
/** @typedef {{onAnswer: (answer: any, question: any) => void, onRefusal: (message: string, field: string) => void}} Hear answer: the server's */

export class Asker {
  /** @param {string} url @param {Hear} hear */
  constructor(url, hear) {
    this.url = url;
    this.hear = hear;
    /** @type {Question|null} */ this.wanted = null;
    this.busy = false;
  }

  /** The question that counts now; an older one that still waits is forgotten. @param {Question} question */
  ask(question) {
    this.wanted = question;
    if (!this.busy) this._work();
  }

  async _work() {
    this.busy = true;
    while (this.wanted) {
      const question = this.wanted;
      this.wanted = null;
      const heard = await this._fetch(question);
      // What belongs to another profile than the one now asked about would only flicker.
      const next = /** @type {Question|null} */ (this.wanted);
      if (next && next.source !== question.source) continue;
      if (heard.error) this.hear.onRefusal(heard.error, heard.field ?? "");
      else this.hear.onAnswer(heard, question);
    }
    this.busy = false;
  }

  async _fetch(/** @type {Question} */ question) {
    try {
      const reply = await fetch(this.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(question),
      });
      if (reply.ok || reply.status === 422) return await reply.json();
      return { error: PLANNER.failed(reply.status) };
    } catch {
      return { error: PLANNER.unanswered };
    }
  }
}
