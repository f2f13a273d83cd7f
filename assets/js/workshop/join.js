/** The way into the room: with a secret out of the address, or a code that is typed. */

import { h } from "../shared/kit/dom.js";
import { Refusal } from "./room.js";
import { WORKSHOP } from "../../text/en/workshop.js";

const LONGEST_CODE = 12;

/**
 * Comes in; who has to wait before the next guess waits, and tries again.
 * @param {import("./room.js").Room} room @param {import("./led-frame.js").Frame} frame
 * @param {{key: string}|{code: string}} secret @param {() => boolean} last whether nothing else was tried since
 * @returns {Promise<boolean>} whether it is in
 */
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
export function codeForm(onCode) {
  const input = /** @type {HTMLInputElement} */ (
    h("input", {
      ...{
        class: "hx-room-code",
        "aria-label": WORKSHOP.joining,
        placeholder: WORKSHOP.joining,
        maxlength: LONGEST_CODE,
      },
      ...{ autocomplete: "off", autocapitalize: "characters", spellcheck: "false", enterkeyhint: "go", required: true },
    })
  );
  const submitted = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (input.value.trim()) onCode(input.value.trim());
  };
  return h(
    "form",
    { class: "hx-room-join", onsubmit: submitted },
    input,
    h("button", { type: "submit", class: "hx-room-button", "data-kind": "go", text: WORKSHOP.join }),
  );
}
