/** The projector and the instructor's notes, two windows of one browser: what is shown, and what is to be shown. No server
 *  takes part. */

const NAME = "hx-class";

/**
 * @typedef {{id: string, stop: number}} Where
 * @typedef {{ask: true} | {at: Where, seen: boolean} | {go: Where} | {answer: true}} Message ask: where are you; at: here, and
 *   whether that window is in sight; go: there; answer: show the answer
 */

export class TwoWindows {
  /** @param {(message: any) => void} hear */
  constructor(hear) {
    this.channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(NAME);
    this.channel?.addEventListener("message", ({ data }) => hear(data));
  }

  /** @param {Message} message */
  say(message) {
    this.channel?.postMessage(message);
  }
}
