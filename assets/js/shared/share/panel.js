/** What Share holds: links with their codes, the run as a file, and its card for slides. Loaded when it is first
 *  opened. */

import { h, icon, say } from "../kit/dom.js";
import { copy, saveGzip, traceName, saveBlob } from "../kit/files.js";
import { showCode } from "./code.js";
import { embedCode, momentLink, runLink, settingsLink, base64Of, squeezed } from "./links.js";
import { words, slide } from "../../../text/en/share.js";
import { addressOf, saveDrawing, sourceOf } from "../kit/picture/button.js";
import { isDark } from "../kit/theme.js";
import { drawSlide } from "./slide.js";

/** @import {Feed} from "../run/trace.js" @import {Link, Shown} from "./links.js" */

const CONFIRMED_MS = 2500;
const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])(:|$)/;

/** @param {Shown} shown
 *  @returns {{el: HTMLElement, show: (token: number|null) => void}} show: links of what is shown now; token: the serial of
 *    the one whose card is open */
export function sharePanel(shown) {
  const said = h("p.hx-share-said", { role: "status", "aria-live": "polite" });
  const tell = (/** @type {string} */ text) => say(said, text);
  const fail = (/** @type {any} */ error) => tell(error?.message || String(error));
  const { alone = false } = shown;
  const local = LOCAL.test(location.host) || location.protocol === "file:";
  const warning = local ? (alone ? words.hereAlone : words.here) : "";
  const row = (/** @type {string} */ title, coded = true) => linkRow(title, { tell, fail, coded, warning });
  const moment = row(words.moment, !alone); // the server draws codes
  const settings = row(words.settings);
  const run = row(words.run, false);
  const embed = row(words.embed, false);
  const rows = alone ? [moment, embed] : [settings, moment, run, embed]; // nobody there runs settings, or opens a run
  const slide = slideRow(shown.feed, tell);
  const save = (/** @type {string} */ label, /** @type {string} */ tip, /** @type {() => Promise<string>} */ action) =>
    h(
      "button.hx-quiet",
      {
        "data-tip": tip,
        onclick: async () => {
          if (!shown.feed.model?.header) return tell(words.nothing);
          tell(words.packing);
          await action().then(tell, fail);
        },
      },
      [icon("save"), h("span", label)],
    );
  const files = h("div.hx-share-row", [
    h("b", words.file),
    h("div.hx-share-buttons", [
      save(words.html, words.htmlTip, () => savePage(shown.feed, shown.settings.colour)),
      save(words.trace, words.traceTip, async () => {
        const name = traceName(/** @type {any} */ (shown.feed.model?.header));
        return words.saved(name, await saveGzip(shown.feed.lines(), name));
      }),
    ]),
  ]);
  const here = warning ? h("p.hx-share-note", warning) : null;
  const el = h("div.hx-share", [rows.map((row) => row.el), slide.el, files, here, said]);
  let turn = 0;
  return {
    el,
    show(token) {
      const mine = ++turn;
      tell("");
      const here = momentLink(shown, token);
      const held = (/** @type {Link} */ link) => {
        run.set(link);
        embed.set(embedCode(here, link, shown));
      };
      moment.set(here);
      slide.show();
      held({ reason: alone ? words.notShipped : words.packing });
      if (alone) return;
      settings.set(settingsLink(shown));
      runLink(shown).then(
        (link) => mine === turn && held(link),
        (error) => mine === turn && held({ reason: error?.message || String(error) }),
      );
    },
  };
}

/** A link: what it is of, its address, and its buttons. @param {string} title
 *  @param {{tell: (text: string) => void, fail: (error: any) => void, coded: boolean, warning: string}} row warning: who
 *    cannot open the link, for whoever reads its code */
function linkRow(title, { tell, fail, coded, warning }) {
  let url = "";
  const field = h("input.hx-input.hx-share-url", {
    readonly: true,
    "aria-label": title,
    onfocus: () => field.select(),
  });
  const note = h("small.hx-share-note");
  const copied = h("span", words.copy);
  /** @type {ReturnType<typeof setTimeout>|undefined} */ let leaving;
  const button = h(
    "button.hx-quiet",
    {
      "aria-label": `${words.copy}: ${title}`,
      onclick: () =>
        copy(url).then(() => {
          button.dataset.done = "true";
          clearTimeout(leaving);
          leaving = setTimeout(() => delete button.dataset.done, CONFIRMED_MS);
          tell(words.copied(title.toLowerCase()));
        }, fail),
    },
    [icon("copy"), copied],
  );
  const code = h(
    "button.hx-quiet",
    { "aria-label": `${words.code}: ${title}`, onclick: () => showCode(title, url, code, warning).catch(fail) },
    [icon("code"), h("span", words.code)],
  );
  const el = h("div.hx-share-row", [h("b", title), h("div.hx-share-buttons", [button, coded && code]), field, note]);
  return {
    el,
    /** @param {Link} link */
    set(link) {
      url = "url" in link ? link.url : "";
      delete button.dataset.done;
      field.value = url;
      field.hidden = button.hidden = code.hidden = !url;
      say(note, "url" in link ? link.note : link.reason);
    },
  };
}

// The run that is shown as one HTML file: the server's empty page with the run put into it.

const COLOUR = 'data-colour="level"'; // this and that as hsd_core/export/run_page.py writes them
const EMPTY = '<script type="text/plain" id="hx-run"></script>';

/** @param {Feed} feed @param {string} colour what tokens are coloured by @returns {Promise<string>} what is to be said */
async function savePage(feed, colour) {
  const [reply, run] = await Promise.all([
    fetch(new URL("../../../../offline.html", import.meta.url)),
    squeezed(JSON.stringify(feed.records)),
  ]);
  const empty = await reply.text();
  if (!reply.ok || !empty.includes(EMPTY)) throw new Error(words.pageFailed);
  const page = empty
    .replace(COLOUR, `data-colour="${colour}"`)
    .replace(EMPTY, EMPTY.replace("><", `>${base64Of(run)}<`));
  const name = traceName(/** @type {any} */ (feed.model?.header)).replace(/\.jsonl\.gz$/, ".html");
  return words.saved(name, saveBlob(new Blob([page], { type: "text/html" }), name));
}

// The row of Share that shows the card for slides and saves it.

/** @param {Feed} feed @param {(text: string) => void} tell */
function slideRow(feed, tell) {
  const dark = h("input", { type: "checkbox", onchange: () => show() });
  const seen = h("img.hx-share-slide");
  const note = h("small.hx-share-note");
  /** @type {ReturnType<typeof drawSlide>|null} */ let drawn = null;
  const save = (/** @type {"svg"|"png"} */ kind, /** @type {string} */ tip) =>
    h(
      "button.hx-quiet",
      {
        "data-tip": tip,
        "aria-label": `${slide.row}: ${kind.toUpperCase()}`,
        onclick: () =>
          drawn &&
          saveDrawing(drawn.picture, nameOf(feed), kind).then(
            (name) => tell(slide.saved(name)),
            (error) => tell(error.message),
          ),
      },
      [icon("save"), h("span", kind.toUpperCase())],
    );
  const buttons = h("div.hx-share-buttons", [
    h("label.hx-tick", [dark, h("span", slide.dark)]),
    save("svg", slide.svgTip),
    save("png", slide.pngTip),
  ]);
  function show() {
    const { model, final } = feed;
    drawn = final && model?.header && model.snapshots.length ? drawSlide(model, dark.checked) : null;
    buttons.hidden = seen.hidden = !drawn;
    say(note, drawn ? slide.note : model?.header ? words.notOver : words.nothing);
    if (!drawn) return;
    seen.src = addressOf(sourceOf(drawn.picture));
    seen.alt = drawn.label;
  }
  return {
    el: h("div.hx-share-row", [h("b", slide.row), buttons, seen, note]),
    /** Draws the run that is shown now, in the page's theme. */
    show() {
      dark.checked = isDark();
      show();
    },
  };
}

/** @param {Feed} feed */
const nameOf = ({ model }) => `${model?.header?.title || model?.header?.stack || ""} card`;
