/** What the pictures and figures of the lesson on many requests at once say. */

import { translate } from "../language.js";

const requests = (/** @type {number} */ n) => (n === 1 ? "1 request" : `${n} requests`);

export const REQUESTS = {
  slider: { label: "requests at once", text: String },
  absent: "No costs of many requests at once are shipped here, so this picture has no figures.",
  rows: "Time of a pass of the target, by its rows",
  bar: (/** @type {number} */ rows) => (rows === 1 ? "1 row" : `${rows} rows`),
  each: (/** @type {number} */ load, /** @type {number} */ rows) => `${requests(load)}, ${REQUESTS.bar(rows)} of each`,
  took: (/** @type {string} */ ms, /** @type {string} */ times) => `${ms} \u00b7 ${times}\u00d7`,
  rowsSaid: (
    /** @type {number} */ load,
    /** @type {string} */ one,
    /** @type {string} */ four,
    /** @type {string} */ place,
  ) =>
    `${requests(load)}: a pass with one row of each takes ${one}; with four rows of each, to judge three drafted tokens, it takes ${four} times as long. Measured on ${place}.`,
  gains: "Speed over plain decoding, by requests at once",
  axis: "requests at once",
  plain: "plain decoding of as many",
  measured: (/** @type {string} */ x, /** @type {string} */ low, /** @type {string} */ high) =>
    `${x} times (${low} to ${high}, measured)`,
  predicted: (/** @type {string} */ x) => `${x} times (predicted)`,
  gain: (/** @type {number} */ load, /** @type {string} */ said) => `${requests(load)}: ${said}`,
  gainsSaid: (/** @type {string} */ stack, /** @type {boolean} */ measured, /** @type {string} */ place) =>
    `${stack}: its speed over plain decoding of as many requests, ${measured ? "with 95 % intervals; measured" : "predicted from passes measured"} on ${place}.`,
  map: "Levels of the best stack, by requests at once",
  mapSaid: (/** @type {string[]} */ parts, /** @type {string} */ place) =>
    `${parts.join(" ")} Predicted from passes measured on ${place}.`,
  machines: "How many times as long a pass of many rows takes as a pass of one",
  here: "two cores, measured",
  computed: (/** @type {string} */ name) => `${name}, computed`,
  rowsAxis: "rows of a pass, of all requests together",
  twice: "twice as long",
  machinesSaid: (/** @type {[string, number][]} */ machines) =>
    `A pass takes twice as long as one of a single row from here on: ${machines.map(([name, rows]) => `${name}, ${rows} rows`).join("; ")}.`,
  tips: {
    gain: "tokens/s of all requests together / those of plain decoding of as many requests",
    end: "an end of the 95 % interval of that",
    pass: "median of a pass of the target over so many rows of each request",
    times: "time of such a pass / of one with a row of each request",
    rows: "rows of such a pass",
    crowd: "time of a pass with a row of each request / of a pass of one row",
    twice: "rows from which a pass takes twice as long as a pass of one",
    stack: "the stack that gained most with one request",
    machine: "where it was measured",
  },
};

translate("requests", { REQUESTS });
