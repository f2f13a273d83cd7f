/** The bar that plays a run. */

import { translate } from "../language.js";

export const TRANSPORT = {
  label: "Playback",
  play: "Play",
  halt: "Pause",
  live: "follow",
  round: (/** @type {number} */ nth, /** @type {number} */ of, /** @type {string} */ time) =>
    `round ${nth}\u2009/\u2009${of} \u00b7 ${time}`,
  /** The whole run's time: what is told of its speed leaves the reading of the prompt out. */
  whole: (/** @type {string} */ time) => `${time} with the prompt`,
  real: "1\u00d7 real",
  start: "To the start",
  back: "One round back",
  on: "One round forward; stops at each rejection",
  end: "To the end",
  moment: "Moment of the run",
  follow: "Follow the end of the run",
  pause: "pause at \u2715",
  pauseTip: "The replay pauses at each rejected token for as long as it takes to read about it",
  pauseName: "pause at rejections",
  speed: "Speed of playback",
  speedTip: "1\u00d7 is the original speed",
};

translate("player", { TRANSPORT });
