/** The Planner tab. */

import { translate } from "../language.js";

export const PLANNER = {
  title: "Planner",
  plots: {
    graph: "the shortest path",
    surface: "where one drafter pays",
    validation: "predicted and measured",
  },
  path: "the best path, from the target downwards",
  noServer: "The server cannot be reached, so no profile is listed; once it answers again, you can also open a file.",
  noProfile: "No profile yet",
  whatProfile:
    "A profile says what each level costs on a machine and how often each accepts another's tokens. From it the planner finds the fastest stack. Nothing has been measured here, so there is nothing to show.",
  /** Before and behind the command. */
  measureOne: [
    "Measure one with ",
    ", which takes about three minutes; then open this tab again. Or open a profile file.",
  ],
  tooLarge: (/** @type {string} */ file, /** @type {number} */ kB) => `${file} has ${kB} kB; a profile has at most 300`,
  noJson: (/** @type {string} */ file) => `${file} is not JSON; open a file that python -m hsd_core calibrate wrote`,
  unreachable: "the server cannot be reached",
  /** Of a question that was asked again and again. */
  failed: (/** @type {number} */ status) =>
    `the server could not answer (status ${status}); nothing you entered is lost; change a number to ask again`,
  unanswered: "the server cannot be reached; nothing you entered is lost; change a number to ask again",
  lost: (/** @type {string} */ profile) =>
    `The address names the profile ${profile}, which is not here; another one is shown.`,
  noneOf: (/** @type {string} */ preset, /** @type {string} */ shown) =>
    `There is no profile of ${preset} here, so this is one of ${shown}; python -m hsd_core calibrate measures yours.`,
};

/** What the tab shows. */
export const VIEWS = {
  label: "what the Planner shows",
  plan: "Another level?",
  load: "Many requests",
  doctor: "Doctor",
  experts: "For experts",
  expertsLead: "The plans of all levels, why they are best, and every number that they are made of.",
};

/** In a page without a server. */
export const AHEAD = {
  start: "python app.py",
  /** @type {Record<string, [string, string]>} as in BEHIND */
  behind: {
    tables: ["Data", "every cost and acceptance"],
    profile: ["Profiles", "other machines and models; download this one"],
  },
  /** Before and behind the command that starts the program. @type {Record<string, [string, string]>} */
  notes: {
    whatif: [
      "In this copy of the page, the answers were worked out ahead, so one control can be changed at a time, and the first question keeps the profile\u2019s own numbers. For any other values start the program: ",
      ".",
    ],
    tables: ["In this copy of the page, numbers cannot be changed; to change them start the program: ", "."],
    profile: ["To measure this machine, or to open a file of your own, start the program: ", "."],
  },
  several:
    "The address changes several numbers at once, which was not worked out ahead; reset them, or start the program: python app.py",
  none: "The answer to this question was not worked out ahead; reset the numbers, or start the program: python app.py",
  unread: "A file of this page could not be read; copy the whole folder again.",
};

/** Which profile, and where it comes from. */
export const SOURCE = {
  /** @type {Record<string, string>} */
  kinds: {
    measured: "measured on this machine",
    shipped: "measured elsewhere, shipped with the page",
    simulated: "simulated: nobody measured these numbers",
    file: "from your file",
  },
  /** @type {Record<string, string>} a kind in a word, behind a profile's title */
  brief: { measured: "measured", shipped: "shipped", simulated: "simulated", file: "file" },
  tagline: "what the theory says",
  /** @type {Record<string, string>} */
  taglines: {
    measured: "theory on measured numbers",
    shipped: "theory on measured numbers",
    simulated: "theory on assumed numbers",
    file: "theory on your file\u2019s numbers",
  },
  profile: "profile",
  temperature: "temperature",
  temperatureIs: (/** @type {number} */ t) => `temperature ${t}`,
  greedy: "greedy",
  changed: "numbers changed",
  file: "profile file",
  open: "Open",
  save: "Download",
  theme: "light or dark",
  noProfile: "no profile",
};

translate("planner", { PLANNER, VIEWS, AHEAD, SOURCE });
