/** What is said before a run is asked for: how many come before it, and how many answers this server writes in a minute. */

import { h, say } from "../kit/dom.js";

const AGAIN_MS = 20_000;

/**
 * @param {{call: import("./session.js").Calls, idle: () => boolean}} ctx idle: whether no run of one's own goes on
 */
export function createPace({ call, idle }) {
  const words = h("span");
  const el = h("p", { class: "hx-pace", role: "status", hidden: true }, words);
  let text = "";
  const show = () => {
    say(words, text);
    el.hidden = !text || !idle();
  };
  const ask = async () => {
    if (document.hidden || !idle()) return;
    text = (await call.pace({}).catch(() => null))?.text ?? ""; // of a server that does not answer nothing is known
    show();
  };
  return {
    el,
    show,
    begin() {
      void ask();
      setInterval(ask, AGAIN_MS);
      document.addEventListener("visibilitychange", ask);
    },
  };
}
