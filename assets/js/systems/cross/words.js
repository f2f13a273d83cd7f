/** The sentences of the two rulers. */

import { translate } from "../../../text/language.js";
import { many } from "../../../text/many.js";

export const RULER = {
  own: "The draft\u2019s tokens",
  target: "The target\u2019s",
  ownTip: "the draft\u2019s own tokens, as its tokenizer has them",
  targetTip: "the same text in the target\u2019s tokens; filled: accepted",
  says: (/** @type {{name: string, own: number, target: number, kept: number, judged: boolean, rest: number}} */ x) => {
    const same = `${many(x.own, "token")} of ${x.name}\u2019s own, ${many(x.target, "token")} of the target\u2019s`;
    const kept = x.judged ? `; ${x.kept} accepted` : "";
    return `${same}${kept}${x.rest ? `; ${many(x.rest, "byte")} did not go up` : ""}.`;
  },
};

translate("systems/cross", { RULER });
