/** The doctor: what another engine printed is pasted or dropped, the server says what it means. Nothing else is asked. */

import { faceButton, h, icon, say } from "../../../shared/kit/dom.js";
import { setQuery } from "../../../shared/kit/tabs.js";
import { toggleTheme } from "../../../shared/kit/theme.js";
import { DOCTOR, EXAMPLES, GIVE } from "../../../../text/en/doctor.js";
import { PLANNER } from "../../../../text/en/planner.js";
import { doctorCard } from "./doctor-card.js";

const MOST = 2_000_000; // bytes, as the server has it
const MOST_TEXTS = 8;

/** @typedef {{name: string, text: string}} Output */

/** @param {string|null} url where to ask; null: in a page without a server */
export function doctorView(url) {
  const head = h("header.hx-doc-top", [
    h("div.hx-doc-title", [h("h1", DOCTOR.title), h("p.hx-tagline", DOCTOR.tagline)]),
    faceButton("theme", DOCTOR.theme, () => toggleTheme()),
  ]);
  if (url === null) {
    const [before, between, after] = DOCTOR.absent;
    const code = (/** @type {string} */ text) => h("code", text);
    const only = h("p.hx-panel", [before, code(DOCTOR.start), between, code(DOCTOR.command), after]);
    return { el: h("section.hx-doc", { "aria-label": DOCTOR.view }, [head, only]), wake: () => {} };
  }
  const ask = asksServer(url);
  /** @type {Output[]} */ let files = [];
  let woken = false;
  const area = /** @type {HTMLTextAreaElement} */ (
    h("textarea.hx-doc-text", {
      rows: 7,
      spellcheck: "false",
      "aria-label": DOCTOR.paste,
      placeholder: DOCTOR.placeholder,
    })
  );
  const plain = /** @type {HTMLInputElement} */ (
    h("input.hx-doc-plain", { type: "number", min: "0", step: "any", inputmode: "decimal" })
  );
  const kinds = /** @type {HTMLInputElement} */ (
    h("input.hx-doc-plain", { spellcheck: "false", "aria-label": DOCTOR.kinds, placeholder: DOCTOR.kindsExample })
  );
  const folded = h("details.hx-figure-data.hx-doc-kinds", [h("summary", DOCTOR.kinds), kinds]);
  const chips = h("ul.hx-doc-files");
  const status = h("p.hx-doc-status", { role: "status", "aria-live": "polite" });
  const fault = h("p.hx-doc-fault", { role: "alert", hidden: true });
  const card = h("div.hx-doc-answer");
  const input = /** @type {HTMLInputElement} */ (
    h("input", {
      type: "file",
      multiple: true,
      hidden: true,
      "aria-label": DOCTOR.file,
      onchange: () => taken(input.files),
    })
  );
  const form = h(
    "form.hx-panel.hx-doc-form",
    {
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        submit();
      },
      ondragover: (/** @type {DragEvent} */ event) => event.preventDefault(),
      ondrop: (/** @type {DragEvent} */ event) => {
        event.preventDefault();
        event.stopPropagation();
        taken(event.dataTransfer?.files);
      },
    },
    [
      h("p.hx-plan-text", DOCTOR.lead),
      area,
      chips,
      h("div.hx-doc-acts", [
        h("button.hx-quiet", { onclick: () => input.click() }, [icon("open"), h("span", DOCTOR.open)]),
        h("label.hx-doc-label", [h("span", DOCTOR.plain), plain]),
        folded,
        h("button.hx-go", { type: "submit", text: DOCTOR.ask }),
        input,
      ]),
      status,
      fault,
      h("p.hx-plan-text", DOCTOR.privacy),
      examples(),
      h("details.hx-figure-data", [
        h("summary", DOCTOR.how),
        h("ul.hx-doc-list", [GIVE.map(([engine, what, how]) => h("li", [`${engine}: ${what} `, h("code", how)]))]),
      ]),
    ],
  );

  function examples() {
    const buttons = EXAMPLES.map((one) =>
      h("li", [
        h("button.hx-quiet", {
          text: one.name,
          onclick: () => {
            files = [];
            shown();
            area.value = one.text;
            plain.value = one.plain ? String(one.plain) : "";
            kinds.value = "";
            submit();
          },
        }),
        h("a", { href: one.url, target: "_blank", rel: "noopener", text: one.about }),
      ]),
    );
    return h("div", [h("p.hx-plan-text", DOCTOR.examples), h("ul.hx-doc-examples", buttons)]);
  }

  function shown() {
    chips.replaceChildren(
      ...files.map((file) =>
        h("li", [
          h("span", file.name),
          h(
            "button.hx-icon-button",
            {
              "aria-label": DOCTOR.remove(file.name),
              onclick: () => {
                files = files.filter((one) => one !== file);
                shown();
                area.focus();
              },
            },
            icon("remove"),
          ),
        ]),
      ),
    );
  }

  /** @param {FileList|null|undefined} list */
  async function taken(list) {
    say(fault, "");
    fault.hidden = true;
    for (const file of list ?? []) {
      const size = file.size + files.reduce((sum, one) => sum + one.text.length, 0);
      if (files.length >= MOST_TEXTS) return refuse(DOCTOR.tooMany);
      if (size > MOST) return refuse(DOCTOR.tooLarge(file.name, size / 1e6));
      files.push({ name: file.name, text: await file.text() });
    }
    input.value = "";
    shown();
    return undefined;
  }

  function submit() {
    const pasted = area.value.trim() ? [{ name: DOCTOR.pasted, text: area.value }] : [];
    const texts = [...files, ...pasted];
    if (!texts.length) return refuse(DOCTOR.nothing);
    return diagnose(texts, plain.value === "" ? null : Number(plain.value), kinds.value);
  }

  /** @param {Output[]} texts @param {number|null} plainMs @param {string} categories */
  async function diagnose(texts, plainMs, categories) {
    fault.hidden = true;
    const size = new Blob([JSON.stringify(texts)]).size; // as it is sent, line ends written out
    if (size > MOST) return refuse(DOCTOR.tooLarge(texts[texts.length - 1].name, size / 1e6));
    say(status, DOCTOR.asking);
    const answer = await ask({ texts, plain_ms: plainMs, categories });
    if (answer.error) return refuse(answer.error);
    const hash = answer.profile_given
      ? ""
      : packed({ runs: answer.runs, plain: answer.plain_given, kinds: answer.categories });
    setQuery({ doctor: "1" });
    history.replaceState(history.state, "", location.pathname + location.search + hash);
    // what Explore holds is not part of the answer
    const made = doctorCard(answer, hash ? `${location.origin}${location.pathname}?tab=planner&doctor=1${hash}` : "");
    card.replaceChildren(made);
    say(status, DOCTOR.done(answer.verdict));
    made.scrollIntoView({ block: "nearest" });
    return undefined;
  }

  /** An error stands alone: the diagnosis before it was of another text. @param {string} text */
  function refuse(text) {
    card.replaceChildren();
    if (location.hash.startsWith("#doctor="))
      history.replaceState(history.state, "", location.pathname + location.search);
    say(status, "");
    say(fault, text);
    fault.hidden = false;
  }

  return {
    el: h("section.hx-doc", { "aria-label": DOCTOR.view }, [head, form, card]),
    /** It is shown: what the address holds is asked about once. */
    wake() {
      const held = woken ? null : unpacked(location.hash);
      woken = true;
      if (!held) return;
      if (held.plain !== null) plain.value = String(held.plain);
      kinds.value = held.kinds;
      folded.toggleAttribute("open", held.kinds !== "");
      area.value = `${JSON.stringify(held.runs)}\n`;
      diagnose([{ name: DOCTOR.pasted, text: area.value }], held.plain, held.kinds);
    },
  };
}

/** @param {string} url @returns {(question: any) => Promise<any>} */
function asksServer(url) {
  return async (question) => {
    try {
      const body = JSON.stringify(question);
      const reply = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
      return reply.ok || reply.status === 422 ? await reply.json() : { error: PLANNER.failed(reply.status) };
    } catch {
      return { error: PLANNER.unanswered };
    }
  };
}

// A diagnosis in the address: the counts that it was read from, behind the #, where no server is sent them.

const NAME = "#doctor=";
const LONGEST = 24_000; // characters: browsers and messengers cut longer addresses

/** @typedef {{runs: any, plain: number|null, kinds: string}} Held what gives the same answer again */

/** The part of an address, or "" where it would be too long. @param {Held} held */
export function packed({ runs, plain, kinds }) {
  const bare = { ...runs, runs: runs.runs.map((/** @type {{name?: string}} */ { name, ...counts }) => counts) }; // a file's name is its owner's
  const held = { ...bare, ...(plain === null ? {} : { plain }), ...(kinds && { kinds }) };
  const bytes = new TextEncoder().encode(JSON.stringify(held));
  const text = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
  return text.length > LONGEST ? "" : NAME + text;
}

/** What an address holds, or null. @param {string} hash @returns {Held|null} */
export function unpacked(hash) {
  if (!hash.startsWith(NAME) || hash.length > LONGEST + NAME.length) return null;
  try {
    const bytes = atob(hash.slice(NAME.length).replaceAll("-", "+").replaceAll("_", "/"));
    const held = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))));
    const { plain = null, kinds = "", ...runs } = held;
    const right =
      Array.isArray(runs.runs) && (plain === null || typeof plain === "number") && typeof kinds === "string";
    return right ? { runs, plain, kinds } : null;
  } catch {
    return null;
  }
}
