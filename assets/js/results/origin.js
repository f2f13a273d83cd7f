/** How each benchmark was made: machine, date, versions, the command, and its files. */

import { h, icon, say } from "../dom.js";
import { copy } from "../files.js";

const SAID_MS = 2000;

/** @param {import("./columns.js").Column} column @param {string} title of its preset */
export function originCard(column, title) {
  const { about, stacks } = column.results;
  const versions = Object.entries(about.versions).map(([name, version]) => `${name} ${version}`);
  const facts = [
    ["machine", column.now ? `${about.machine} (this server)` : about.machine],
    ["measured", about.recorded],
    ["threads", String(about.threads)],
    ["prompts", `${stacks[0].prompts} of ${about.prompts}, up to ${about.max_new_tokens} tokens each`],
    ["versions", versions.join(", ")],
    ...(about.peak_mb ? [["peak memory", `${Math.round(about.peak_mb)} MB`]] : []),
  ];
  return h(
    "section",
    {
      class: `hx-panel hx-res-card${column.now ? " hx-res-now" : ""}`,
      "aria-label": `${title}: how ${column.name} was measured`,
    },
    h("h3", { class: "hx-plan-h", text: column.name }),
    h(
      "dl",
      { class: "hx-res-facts" },
      ...facts.flatMap(([name, value]) => [h("dt", { text: name }), h("dd", { text: value })]),
    ),
    command(about.command, column.name),
    h(
      "div",
      { class: "hx-res-files" },
      file(column, "json", () => JSON.stringify(column.results), "application/json"),
      file(column, "csv", () => column.csv, "text/csv"),
    ),
  );
}

/** @param {{what: string, command: string}} missing */
export function missingCard({ what, command: text }) {
  return h(
    "section",
    { class: "hx-panel hx-res-card hx-res-missing", "aria-label": `${what}: not measured` },
    h("h3", { class: "hx-plan-h", text: what }),
    h("p", { class: "hx-plan-text", text: "Not measured. On such a machine this command makes its benchmark:" }),
    command(text, what),
  );
}

function command(text, whose) {
  const said = h("span", { text: "Copy" });
  const button = h(
    "button",
    {
      type: "button",
      class: "hx-quiet",
      "aria-label": `copy the command of ${whose}`,
      onclick: async () => {
        try {
          await copy(text);
          say(said, "Copied");
        } catch {
          say(said, "Not copied: select it");
        }
        setTimeout(() => say(said, "Copy"), SAID_MS);
      },
    },
    icon("copy"),
    said,
  );
  return h("div", { class: "hx-res-command" }, h("code", { text }), button);
}

function file(column, kind, content, type) {
  return h(
    "button",
    {
      type: "button",
      class: "hx-quiet",
      "aria-label": `download results.${kind} of ${column.name}`,
      onclick: () => {
        const link = h("a", {
          href: URL.createObjectURL(new Blob([content()], { type })),
          download: `${column.results.about.preset}-${column.id}-results.${kind}`.replace(/[^\w.-]+/g, "-"),
        });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      },
    },
    icon("save"),
    h("span", { text: `results.${kind}` }),
  );
}
