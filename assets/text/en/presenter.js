/** What presenting says of itself. */

import { translate } from "../language.js";

export const WORDS = {
  name: "present",
  tip: "for an audience: large text, no prompt; arrow keys and Space control the replay from anywhere (P; Escape leaves)",
};

translate("presenter", { WORDS });
