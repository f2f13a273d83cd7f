/** The buttons that open what lies one press behind the first screen. */

import { translate } from "../language.js";

export const PANEL = {
  time: "Where the time goes",
  timeTip: "what each level computed and when, and the figures of the run",
  stack: "Change",
  stackTip: "switch levels on and off, move them, set how much they draft, add others",
  details: "Details",
  detailsTip: "letters, dots and counts on every token: which level wrote, accepted or rejected it",
  controls: "More",
  controlsTip: "recordings, examples, settings, sharing, presenting, proof, help, and how the text is shown",
};

translate("panels", { PANEL });
