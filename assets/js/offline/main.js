/** The first screen in a file of its own: one run, replayed without a server. What needs one is not there. */

import { h } from "../shared/kit/dom.js";
import { clockOf } from "../shared/levels/overlap.js";
import { markFrame } from "../shared/share/framed.js";
import { Stage } from "../tabs/explore/stage.js";
import { rememberTheme } from "../shared/kit/theme.js";
import { words } from "../../text/en/offline.js";
import { TITLE } from "../../text/en/page.js";

const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} base64 of gzipped JSON */
async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function open() {
  markFrame();
  document.body.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
  rememberTheme();
  const { grammar } = JSON.parse(element("hx-setup").textContent ?? "");
  const ev = await unpacked((element("hx-run").textContent ?? "").trim());
  const header = ev.find((/** @type {any} */ record) => record.event === "header");
  const where = [header.recorded?.slice(0, 10), header.machine].filter(Boolean).join(", ");
  const said = words.clocks[clockOf(header)]?.(words.recorded(where)) ?? words.recorded(where);
  const status = { mode: "recorded", text: said, title: header.title, detail: "" };
  const setup = {
    why: words.why,
    grammar,
    offline: true,
    colour: document.body.dataset.colour,
    catalogue: [],
    recordings: [],
    examples: [],
    limits: {},
    defaults: {},
  };
  const refuse = () => Promise.reject(new Error(words.noServer));
  const call = { open_trace: refuse, simulate: refuse, stop: refuse, tail: refuse };
  const props = { setup: JSON.stringify(setup), value: "" };
  const root = /** @type {HTMLElement} */ (document.querySelector(".hx-root"));
  const stage = new Stage(root, { props, call, trigger: () => {} });
  document.title = [header.title, clockOf(header), TITLE.name].filter(Boolean).join(" · ");
  await stage.begin(JSON.stringify({ run: "offline", from: 0, ev, final: true, status }));
}

open().catch((error) => {
  const root = document.querySelector(".hx-root");
  root?.replaceChildren(h("p.hx-booting", `${words.unreadable} (${error?.message ?? error})`));
});
