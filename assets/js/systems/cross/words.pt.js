/** As frases das duas réguas. */

import { many } from "../../../text/many.js";

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  RULER: {
    own: "Os tokens do rascunho",
    target: "Os do alvo",
    ownTip: "os tokens próprios do rascunho, como o tokenizador dele os tem",
    targetTip: "o mesmo texto nos tokens do alvo; preenchido: aceito",
    says: (x) => {
      const same = `${many(x.own, "token")} de ${x.name}, ${many(x.target, "token")} do alvo`;
      const kept = x.judged ? `; ${many(x.kept, "aceito")}` : "";
      return `${same}${kept}${x.rest ? `; ${many(x.rest, "byte não subiu", "bytes não subiram")}` : ""}.`;
    },
  },
};
