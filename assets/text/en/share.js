/** The sentences of Share: links, codes, files, and what a link led to. */

import { translate } from "../language.js";

const kB = (/** @type {number} */ length) => `${(length / 1000).toFixed(length < 10_000 ? 1 : 0)} kB`;

export const words = {
  share: "Share",
  shareTip: "share: links, a code for phones, the run as one file",
  wholePage: "HSD Explorer \u2197",
  settings: "These settings",
  settingsNote: "Preset, stack, prompt and sampling; whoever opens the link presses Generate.",
  promptLeftOut: "Without the prompt, which is too long for a link.",
  moment: "This moment",
  momentNote: (/** @type {string} */ at, /** @type {number|null} */ token) =>
    `Round ${at.split(".")[0]}, event ${at.split(".")[1]}${token === null ? "" : `, with the card of token ${token} open`}.`,
  notShipped: "Only for recordings that come with the page; the link below works for any run.",
  embed: "Embed code",
  embedNote: "HTML for a page of your own: the text and its player in a frame.",
  embedAllowed: " Start this server with --allow-embed and that page\u2019s origin.",
  embedTitle: (/** @type {string} */ title) => `HSD Explorer${title ? `: ${title}` : ""}`,
  run: "The whole run",
  runNote: (/** @type {number} */ length, /** @type {boolean} */ bare) =>
    `${kB(length)}, inside the link: no server stores it. Without probability rows${bare ? ", depths and cache lengths" : " and depths"}.`,
  tooLong: (/** @type {number} */ length, /** @type {number} */ most) =>
    `Too long for a link (${kB(length)}; the limit is ${kB(most)}): download the run and drop the file onto the page.`,
  notOver: "The run must end first.",
  nothing: "There is no run yet.",
  file: "As a file",
  trace: "Trace",
  traceTip: "everything that was recorded (.jsonl.gz): drop it onto this page to open it",
  html: "Page",
  htmlTip: "one HTML file that replays this run without a server or a network",
  copy: "Copy",
  code: "Code",
  copied: (/** @type {string} */ what) => `Copied: ${what}.`,
  saved: (/** @type {string} */ name, /** @type {number} */ size) => `Saved as ${name} (${kB(size)}).`,
  pageFailed: "The server could not send the page\u2019s template; download the trace instead.",
  packing: "Packing the run\u2026",
  codeOf: (/** @type {string} */ what) => `QR code: ${what}`,
  codeTooLong: "Too long for a QR code.",
  codeFailed: "The server could not draw the QR code; copy the link.",
  close: "Close",
  here: "This address works only on this machine. Start the server with --host 0.0.0.0 to let others open it.",
  hereAlone:
    "This address works only on this machine. Hand on the folder, or put it on a web host, to let others open it.",
  drop: "Drop the trace to open it",
  dropNote: "a .jsonl or .jsonl.gz file of a run",
  dropNone: "That was not a file: drop a .jsonl or .jsonl.gz trace.",
  dropMany: "Only one file at a time: the first one is opened.",
  linked: "a linked run",
  faults: {
    version: "The link holds a run from another version of this page; ask for the run as a file.",
    long: "The run in the link is too long; ask for the run as a file.",
    damaged: "The run in the link is damaged: the link may have been cut. Copy the whole link again.",
  },
  instead: (
    /** @type {string} */ title,
    /** @type {boolean} */ otherPrompt,
    /** @type {boolean} */ otherStack,
    /** @type {string} */ then,
  ) => {
    const of = [otherPrompt && "another prompt", otherStack && "another stack"].filter(Boolean).join(" and ");
    return `This link holds settings but no run. Until you run them, the recording \u201c${title}\u201d is shown, with ${of}. ${then}`;
  },
  noSuchMoment: (/** @type {string} */ at) => `This recording has no moment ${at}; the nearest one is shown.`,
  noSuchToken: (/** @type {string} */ token) => `This recording has no token ${token}; the nearest one is shown.`,
  notYet: (/** @type {string} */ token) =>
    `Token ${token} is not written yet then; the moment when it is written is shown.`,
  noMoment: (/** @type {string} */ what) => `Left out of the address because invalid: ${what}.`,
  noSuchRecording: (/** @type {string} */ name, /** @type {string} */ other) =>
    `There is no recording \u201c${name}\u201d here; ${other ? `\u201c${other}\u201d has the nearest name and is shown` : "another one is shown"}.`,
};

/** The card for slides. */
export const slide = {
  row: "Card for slides",
  note: "16:9: the stack, its speed, the text, the machine and the day.",
  dark: "dark",
  saved: (/** @type {string} */ name) => `Saved as ${name}.`,
  svgTip: "vector graphics: sharp at any size",
  pngTip: "pixels, 2560 \u00d7 1440",
  of: (/** @type {string} */ big, /** @type {string} */ unit, /** @type {string} */ stack) =>
    `Card for slides: ${big} ${unit}; ${stack}`,
  brand: "HSD Explorer",
  about: "hierarchical speculative decoding",
  perPass: (/** @type {string} */ tokens) => `${tokens} tokens a pass`,
  kept: (/** @type {number} */ share) => `${share} % of drafts kept`,
  exact: "The text is the one that the model alone writes.",
  inLaw: "Every token is drawn as the model alone would draw it.",
  lossy: "This stack may change the text.",
};

translate("share", { words, slide });
