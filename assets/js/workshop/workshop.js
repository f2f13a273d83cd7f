/** The class in a page, loaded by the page alone that a server with a class sends, and the way into its room. */

import { Frame } from "./led-frame.js";
import { Instructor } from "./instructor.js";
import { Learner } from "./learner.js";
import { Room, Refusal } from "./room.js";
import { takeSecret } from "./secret.js";
import { WORKSHOP } from "../../text/en/workshop.js";
import { h } from "../shared/kit/dom.js";

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

// The way into the room: with a secret out of the address, or a code that is typed.

const LONGEST_CODE = 12;

/** Comes in; who has to wait before the next guess waits, and tries again.
 *  @param {import("./room.js").Room} room @param {import("./led-frame.js").Frame} frame
 *  @param {{key: string}|{code: string}} secret @param {() => boolean} last whether nothing else was tried since
 *  @returns {Promise<boolean>} whether it is in */
export async function comeIn(room, frame, secret, last) {
  for (;;) {
    frame.tell(WORKSHOP.coming);
    try {
      await room.enter(secret);
      return true;
    } catch (/** @type {any} */ error) {
      if (!(error instanceof Refusal) || !error.retry) {
        frame.tell(WORKSHOP.wrong(error?.message || String(error)));
        return false;
      }
      for (let left = Math.ceil(error.retry); left > 0; left -= 1) {
        if (!last()) return false;
        frame.tell(WORKSHOP.slowed(left));
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
      if (!last()) return false;
    }
  }
}

/** Asks for the code. @param {(code: string) => void} onCode */
function codeForm(onCode) {
  const input = /** @type {HTMLInputElement} */ (
    h("input.hx-room-code", {
      ...{ "aria-label": WORKSHOP.joining, placeholder: WORKSHOP.joining, maxlength: LONGEST_CODE },
      ...{ autocomplete: "off", autocapitalize: "characters", spellcheck: "false", enterkeyhint: "go", required: true },
    })
  );
  const submitted = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (input.value.trim()) onCode(input.value.trim());
  };
  return h("form.hx-room-join", { onsubmit: submitted }, [
    input,
    h("button.hx-room-button", { type: "submit", "data-kind": "go", text: WORKSHOP.join }),
  ]);
}
