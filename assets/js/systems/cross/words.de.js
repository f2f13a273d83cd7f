/** Was zwei Lineale sagen. */

import { many } from "../../../text/many.js";

const token = (/** @type {number} */ n) => many(n, "Token", "Token");

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  RULER: {
    own: "Token des Entwurfs",
    target: "Die des Zielmodells",
    ownTip: "die eigenen Token des Entwurfs, wie sein Tokenizer sie hat",
    targetTip: "derselbe Text in Token des Zielmodells; gefüllt: angenommen",
    says: (x) => {
      const same = `${token(x.own)} von ${x.name} selbst, ${token(x.target)} des Zielmodells`;
      const kept = x.judged ? `; ${x.kept} angenommen` : "";
      return `${same}${kept}${x.rest ? `; ${x.rest === 1 ? "1 Byte wurde" : `${x.rest} Bytes wurden`} nicht hinaufgereicht` : ""}.`;
    },
  },
};
