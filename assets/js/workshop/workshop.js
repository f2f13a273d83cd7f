/** The class in a page: loaded by the page alone that a server with a class sends. */

import { Frame } from "./led-frame.js";
import { Instructor } from "./instructor.js";
import { codeForm, comeIn } from "./join.js";
import { Learner } from "./learner.js";
import { Room } from "./room.js";
import { takeSecret } from "./secret.js";
import { WORKSHOP } from "../../text/en/workshop.js";

/** @param {ReturnType<typeof takeSecret>} secret that the page was opened with */
export async function begin(secret) {
  const frame = new Frame();
  /** @type {Instructor|Learner|null} */ let part = null;
  let tries = 0;
  let welcomes = Boolean(secret && "key" in secret);
  const room = new Room(new URL("../../../room", import.meta.url).href, {
    onTold(told) {
      document.documentElement.dataset.room = told.leads ? "leads" : "follows";
      if (!(part instanceof (told.leads ? Instructor : Learner)))
        part = new (told.leads ? Instructor : Learner)(frame, room);
      void part.told(told);
      if (welcomes && part instanceof Instructor) part.poster();
      welcomes = false;
    },
    onOut: () => out(),
    onLost: () => frame.tell(WORKSHOP.lost),
  });
  const form = codeForm((code) => void enter({ code }));
  const out = (said = "") => {
    frame.tell(said);
    frame.answers(null);
    frame.controls(form);
  };
  /** @param {{code: string}|{key: string}} given */
  async function enter(given) {
    const turn = ++tries;
    const last = () => turn === tries;
    if (await comeIn(room, frame, given, last)) frame.controls();
    else if (last()) frame.controls(form);
  }
  addEventListener("hashchange", () => {
    const later = takeSecret();
    if (later) {
      welcomes = "key" in later;
      void enter(later);
    }
  });
  if (secret) await enter(secret);
  else void room.listen();
}
