/** The title bar: what this is for, the big figure, what is shown, help, light or dark. */

import { explained, term } from "../../../shared/glossary/term.js";
import { askForStory } from "../../../shared/kit/curtain.js";
import { faceButton, h, popover, say } from "../../../shared/kit/dom.js";
import { differing } from "../../../shared/levels/greedy.js";
import { unknownKinds } from "../../../shared/levels/kinds.js";
import { clockOf } from "../../../shared/levels/overlap.js";
import { ofRun, stated } from "../../../shared/levels/stated.js";
import { presenterButton } from "../../../shared/player/presenter.js";
import { plainSpeed, speedUp } from "../../../shared/run/figures.js";
import { saidPrice, shortPrice } from "../../../shared/run/spared.js";
import { brought } from "../../../systems/index.js";
import { NAME, PARTS } from "../../../../text/en/help.js";
import { CLOCKS, HEADLINE } from "../../../../text/en/lanes.js";
import { SKIP, TITLE } from "../../../../text/en/page.js";
import { STATUS } from "../../../../text/en/run.js";
import { STORY } from "../../../../text/en/story.js";
import { LANGUAGE } from "../../../../text/language.js";
import { ratio, rounded } from "../../../../text/numbers.js";

const DOT = " \u00b7 "; // between the parts of a status

/** @import {Header, LevelInfo} from "../../../shared/run/events.js"
 *  @import {TraceModel} from "../../../shared/run/trace.js" */

/** @typedef {Record<string, any>} Status as the server sends it */
/** @typedef {{pending: unknown, started: boolean}} Session @typedef {{mode: string, text: string, tip: string, law?: string}} Said */

/** `set({mode, text, tip})` says what is shown; `update` moves the figure.
 *  @param {{why: string, story: boolean, share: {el: HTMLElement}|null, more: HTMLElement, onTheme: () => void}} ctx why: the
 *    sentence that says why anyone does this; story: whether there is an opening to go back to; share: the button that opens
 *    Share; more: the button that shows all controls */
export function titleBar(ctx) {
  const text = h("span.hx-status-text");
  // Whether the run is exact is a word of the glossary; the rest of the line is about this run.
  const exact = { exact: term("exact"), lossy: term("lossy") };
  const badge = h("span.hx-status", { tabindex: "0", "data-mode": "idle" }, [
    h("i", { "aria-hidden": "true" }),
    text,
    Object.values(exact),
  ]);
  const opensHelp = faceButton("help", TITLE.help, () => {});
  opensHelp.classList.add("hx-open-help");
  const help = popover(opensHelp, helpPanel(), { label: TITLE.helpName });
  const figure = headline();
  const el = h("header.hx-title", [
    h("h1", TITLE.name),
    h("p.hx-why", explained(ctx.why)),
    figure.el,
    badge,
    h("div.hx-title-buttons", [
      ctx.more,
      ctx.story && storyLink(),
      ctx.share?.el,
      help.el,
      presenterButton(),
      languageMenu(),
      faceButton("theme", TITLE.theme, () => ctx.onTheme()),
    ]),
  ]);
  return {
    el,
    set(/** @type {Said} */ status) {
      badge.dataset.mode = status.mode;
      badge.dataset.tip = status.tip;
      // A line breaks between its parts alone, not at a hyphen of a model's name.
      if (text.textContent !== status.text)
        text.replaceChildren(...status.text.split(DOT).flatMap((part, i) => [i ? DOT : "", h("span", part)]));
      for (const [name, word] of Object.entries(exact)) word.hidden = status.law !== name;
    },
    update: figure.update,
  };
}

/** The languages of the page, each by its own name; a chosen one stands in the address. Null where there is but one. */
function languageMenu() {
  const there = document.documentElement.dataset.languages?.split(" ") ?? [];
  if (there.length < 2) return null;
  const named = (/** @type {string} */ one) => new Intl.DisplayNames([one], { type: "language" }).of(one) ?? one;
  const options = there.map((one) =>
    h("option", { value: one, lang: one, text: named(one), selected: one === LANGUAGE }),
  );
  const choose = (/** @type {Event} */ event) => {
    const query = new URLSearchParams(location.search);
    query.set("lang", /** @type {HTMLSelectElement} */ (event.currentTarget).value);
    location.search = String(query);
  };
  const label = { "aria-label": TITLE.language, "data-tip": TITLE.language };
  return h("select.hx-select.hx-language", { ...label, onchange: choose }, options);
}

/** The quiet way back to the opening. */
const storyLink = () =>
  h("button.hx-story-link", { "data-tip": STORY.linkTip, text: STORY.link, onclick: () => askForStory() });

// ---- The one big figure: how many times as fast as plain decoding the run is, up to the moment that is shown. Where plain
// decoding was not measured, or not yet, tokens/s stand in its place.

export function headline() {
  const value = h("b.hx-headline-value", "\u2013");
  const unit = h("span");
  const gain = term("speedup", HEADLINE.gain);
  const measure = h("span.hx-headline-unit", [gain, unit]);
  const against = h("span.hx-headline-against");
  const where = h("span.hx-headline-where");
  const words = h("span.hx-headline-words", [measure, against, where]);
  const el = h("p.hx-headline", { tabindex: "0", "data-tip": HEADLINE.formula }, [value, words]);
  return {
    el,
    /** `waiting`: plain decoding is being measured. */
    update(/** @type {TraceModel} */ model, /** @type {number} */ cursor, /** @type {boolean} */ waiting) {
      const now = model.snapshotAt(cursor)?.tokens_per_s ?? null;
      const plain = plainSpeed(model.baseline);
      const clock = clockOf(model.header);
      const price = shortPrice(model); // no speed of a text that is not the target's without what it costs
      say(where, price || (model.header && clock !== "simulated" ? HEADLINE.where(model.header.machine ?? "") : ""));
      if (plain === null) {
        say(value, now === null ? "\u2013" : speed(now));
        gain.hidden = true;
        say(unit, clock ? HEADLINE.rateOf[clock] : HEADLINE.rate);
        say(against, waiting ? HEADLINE.waiting : alone(model));
        return;
      }
      const gained = speedUp(model, cursor);
      if (gained !== null && cursor >= model.end && model.footer) {
        stated("speed_up", ofRun(model.header), ratio(gained));
        stated("tokens_per_s", ofRun(model.header), speed(now));
        stated("plain_tokens_per_s", ofRun(model.header), speed(plain));
      }
      say(value, gained === null ? "\u2013" : `${ratio(gained)}\u00d7`);
      gain.hidden = clock !== "";
      say(unit, clock ? HEADLINE.gainOf[clock] : "");
      say(against, HEADLINE.against(now === null ? "\u2013" : speed(now), speed(plain)));
    },
  };
}

function alone(/** @type {TraceModel} */ { footer, header }) {
  if (header?.levels.length === 1) return HEADLINE.itself;
  return footer ? HEADLINE.none : HEADLINE.later;
}

const speed = (/** @type {number|null} */ value) => rounded(value ?? NaN);

// ---- The help: how to read every part of the page, its keys, and whose name it bears.

export function helpPanel() {
  /** @type {[string, string][]} */ const own = brought.desks.map(({ key, help }) => [key.toUpperCase(), help]);
  const last = PARTS.length - 1; // the keys
  return h("div.hx-help", { tabindex: "0", role: "region" }, [
    PARTS.flatMap(([title, entries], i) => [
      h("h2", title),
      h("dl", [[...entries, ...(i === last ? own : [])].flatMap(([name, text]) => [h("dt", name), h("dd", text)])]),
    ]),
    h("h2", NAME.title),
    h("p", NAME.text),
  ]);
}

// ---- Links at the page's start that Tab reaches first: past the tab bar and the prompt, to what one came for.

const CONTROL = "a[href], button, input, select, textarea, summary, [tabindex='0']";
/** @type {[string, string][]} by name: what takes the focus; one that is not in sight is not offered */
const PLACES = [
  [SKIP.playback, ".hx-transport-play"],
  [SKIP.text, ".hx-flow [tabindex='0']"],
  [SKIP.tower, ".hx-tower select"],
  [SKIP.tab, `[role="tabpanel"] .hx-stage :is(${CONTROL})`],
];

const inSight = (/** @type {string} */ selector) =>
  [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector))].find((one) =>
    one.checkVisibility(),
  );

export function skipLinks() {
  const links = PLACES.map(([name, selector]) =>
    h("button", { text: name, onclick: () => inSight(selector)?.focus() }),
  );
  const offer = () => PLACES.forEach(([, selector], i) => (links[i].hidden = !inSight(selector)));
  document.body.prepend(h("nav.hx-skip", { "aria-label": SKIP.name }, links));
  // Before the key moves the focus: which places there are changes with the tab.
  document.addEventListener("keydown", (event) => event.key === "Tab" && offer(), { capture: true });
}

// ---- Sentences: what the title bar and the progress note say.

/** The title bar's badge: live or recorded, which weights, on which device, in which dtype; `law`, exact or
 *  lossy; "" where plain decoding beside it wrote another text, which the text says then.
 *  @param {TraceModel|null} model @param {Status} status @param {Session} session */
export function describe(model, status, session, ready = true) {
  const header = model?.header;
  if (!header) {
    return session.pending
      ? { mode: "loading", text: STATUS.preparing, tip: "" }
      : {
          mode: "idle",
          text: STATUS.none,
          tip: ready ? STATUS.start : STATUS.choose,
        };
  }
  if (header.simulated) return made(header, session);
  const top = header.levels[header.levels.length - 1];
  const running = session.pending && session.started && !model.footer;
  const mode = status.mode === "recorded" ? "recorded" : status.mode === "error" ? "error" : "live";
  const live = running ? STATUS.live : model.footer?.reason === "stopped" ? STATUS.liveStopped : STATUS.liveDone;
  const state = mode === "live" ? live : mode === "error" ? STATUS.interrupted : STATUS.recorded;
  const where = `${STATUS.places[top.device?.split(":")[0]] ?? top.device} ${top.dtype}`;
  const clock = CLOCKS[clockOf(header)];
  const unknown = unknownKinds(header);
  const lacks = unknown.length > 0 && STATUS.unknown(unknown);
  const parts = [state, lacks, clock?.short, weights(header), where, header.replan && STATUS.auto].filter(Boolean);
  const differs = header.lossless && differing(model);
  const lost = header.lossless ? "" : saidPrice(model);
  const lawTip = header.lossless ? STATUS.exactTip : STATUS.lossyTip;
  const tip = [
    status.text && `${status.text}.`,
    lacks && STATUS.unknownTip,
    differs ? STATUS.differsTip(model.baseline?.margin ?? null) : lawTip(header.lossless_reason),
    lost && `${lost}.`,
    clock?.said,
    source(top),
    header.replan && STATUS.autoTip,
    header.machine && STATUS.machine(header.machine),
  ]
    .filter(Boolean)
    .join(" ");
  return {
    mode: session.pending && !session.started ? "loading" : mode,
    text: `${parts.join(DOT)}${DOT}${differs ? STATUS.differs(model.baseline?.equal ?? 0) : ""}`,
    law: differs ? "" : header.lossless ? "exact" : "lossy",
    tip,
  };
}

/** The badge of a run in which no model ran. @param {Header} header @param {Session} session */
function made(header, session) {
  const levels = STATUS.levels(header.levels.length);
  return {
    mode: session.pending && !session.started ? "loading" : "simulated",
    text: [STATUS.simulated, weights(header), levels].join(" · "),
    tip: STATUS.simulatedTip(header.simulated),
  };
}

const weights = (/** @type {Header} */ header) => header.levels.at(-1)?.label || header.preset || STATUS.target;
const source = (/** @type {LevelInfo} */ level) =>
  level.weights?.source ? STATUS.weights([level.weights.source, level.weights.note].filter(Boolean).join("; ")) : "";

/** Loading: what is happening, how far, and what one can do meanwhile. @param {Status} status */
export function progressText(status) {
  const share = status.share ? `, ${Math.round(100 * status.share)} %` : "";
  return {
    mode: status.mode,
    text: `${status.text}${share}`,
    detail: status.detail || "",
    share: status.share ?? null,
    waited: status.waited ?? 0,
  };
}
