/** How each benchmark was made: machine, date, versions, the command, and its files. */

import { h, icon, say } from "../../shared/kit/dom.js";
import { copy } from "../../shared/kit/files.js";
import { ORIGIN } from "../../../text/en/results.js";

const SAID_MS = 2000;

/** @param {import("./columns.js").Column} column @param {string} title of its preset */
export function originCard(column, title) {
  const { about, stacks } = column.results;
  const versions = Object.entries(about.versions).map(([name, version]) => `${name} ${version}`);
  const facts = [
    [ORIGIN.machine, column.now ? ORIGIN.here(about.machine) : about.machine],
    [ORIGIN.measured, about.recorded],
    [ORIGIN.threads, String(about.threads)],
    [ORIGIN.prompts, ORIGIN.promptsAre(stacks[0].prompts, about.prompts, about.max_new_tokens)],
    [ORIGIN.versions, versions.join(", ")],
    ...(about.peak_mb ? [[ORIGIN.memory, ORIGIN.memoryIs(Math.round(about.peak_mb))]] : []),
  ];
  return h(
    "section",
    {
      class: `hx-panel hx-res-card${column.now ? " hx-res-now" : ""}`,
      "aria-label": ORIGIN.how(title, column.name, column.when, stacks[0].prompts),
    },
    [
      h("h3.hx-plan-h", column.name),
      h("dl.hx-res-facts", [facts.flatMap(([name, value]) => [h("dt", name), h("dd", value)])]),
      command(about.command, column.name),
      h("div.hx-res-files", [
        file(column, "json", () => JSON.stringify(column.results), "application/json"),
        file(column, "csv", () => column.csv, "text/csv"),
      ]),
    ],
  );
}

/** @param {{what: string, command: string, asked: string}} missing */
export function missingCard({ what, command: text, asked }) {
  return h("section.hx-panel.hx-res-card.hx-res-missing", { "aria-label": ORIGIN.missing(what) }, [
    h("h3.hx-plan-h", what),
    asked && h("p.hx-plan-text", ORIGIN.asked(asked)),
    h("p.hx-plan-text", ORIGIN.make),
    command(text, what),
  ]);
}

function command(/** @type {string} */ text, /** @type {string} */ whose) {
  const said = h("span", ORIGIN.copy);
  const button = h(
    "button.hx-quiet",
    {
      "aria-label": ORIGIN.copyOf(whose),
      onclick: async () => {
        try {
          await copy(text);
          say(said, ORIGIN.copied);
        } catch {
          say(said, ORIGIN.notCopied);
        }
        setTimeout(() => say(said, ORIGIN.copy), SAID_MS);
      },
    },
    [icon("copy"), said],
  );
  return h("div.hx-res-command", [h("code", text), button]);
}

/** @param {import("./columns.js").Column} column @param {string} kind @param {() => string} content
 *  @param {string} type */
function file(column, kind, content, type) {
  return h(
    "button.hx-quiet",
    {
      "aria-label": ORIGIN.download(kind, column.name),
      onclick: () => {
        const link = h("a", {
          href: URL.createObjectURL(new Blob([content()], { type })),
          download: `${column.results.about.preset}-${column.id}-results.${kind}`.replace(/[^\w.-]+/g, "-"),
        });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      },
    },
    [icon("save"), h("span", `results.${kind}`)],
  );
}
