/** What the page says of a judge. */

import { translate } from "../../../text/language.js";

export const JUDGE = {
  good: "good",
  says: "How likely the judge finds each drafted token good, after the model has read it. A rejected token with more than δ is kept.",
};

translate("systems/judge", { JUDGE });
