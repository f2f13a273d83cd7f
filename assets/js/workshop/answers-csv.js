/** The answers of a class as a table for a spreadsheet: one line for each answer that was given, and how many gave it. */

import { plain } from "./answer-bars.js";
import { stepOfTally } from "./known.js";
import { WORKSHOP } from "../../text/en/workshop.js";

/** @param {import("./room.js").Given[]} given @param {any[]} lessons @returns {string} comma-separated, by RFC 4180 */
export function answersCsv(given, lessons) {
  const rows = given.flatMap(({ lesson: id, step: number, answers }) => {
    const step = stepOfTally(lessons, { lesson: id, step: number });
    const { ask, choices, number: estimate } = step?.question ?? {};
    const asked = /\$/.test(ask) ? step.title : plain(ask); // figures of a run are filled in by the lesson
    const title = lessons.find((one) => one.id === id)?.title ?? "";
    return [...new Set(answers)].map((answer) => [
      ...[id, title, number, asked],
      choices ? plain(choices[answer]?.text) || WORKSHOP.choice(answer + 1) : answer,
      estimate?.unit ?? "",
      answers.filter((one) => one === answer).length,
    ]);
  });
  return [WORKSHOP.csvColumns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** A spreadsheet takes a text that begins like a formula for one, unless an apostrophe says that it is text.
 *  @param {string|number} value */
function cell(value) {
  const text =
    typeof value === "number" ? String(value) : value.replace(/^(?=\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
