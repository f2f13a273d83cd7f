/** The title bar: what this is for, the big figure, what is shown, help, light or dark. */

import { askForStory } from "../../../shared/kit/curtain.js";
import { h, icon, popover, say } from "../../../shared/kit/dom.js";
import { explained, term } from "../../../shared/glossary/term.js";
import { headline } from "./headline.js";
import { helpPanel } from "./help.js";
import { presenterButton } from "../../../shared/player/presenter.js";
import { TITLE } from "../../../../text/en/page.js";
import { STORY } from "../../../../text/en/story.js";

/**
 * `set({mode, text, tip})` says what is shown; `update` moves the figure.
 * @param {{why: string, story: boolean, share: {el: HTMLElement}|null, more: HTMLElement, onTheme: () => void}} ctx why: the
 *   sentence that says why anyone does this; story: whether there is an opening to go back to; share: the button that opens
 *   Share; more: the button that shows all controls
 */
export function titleBar(ctx) {
  const text = h("span", { class: "hx-status-text" });
  // Whether the run is exact is a word of the glossary; the rest of the line is about this run.
  const exact = { exact: term("exact"), lossy: term("lossy") };
  const badge = h(
    "span",
    { class: "hx-status", tabindex: "0", "data-mode": "idle" },
    h("i", { "aria-hidden": "true" }),
    text,
    ...Object.values(exact),
  );
  const button = (name, label, onclick) =>
    h(
      "button",
      { type: "button", class: "hx-icon-button", "aria-label": label, "data-tip": label, onclick },
      icon(name),
    );
  const opensHelp = button("help", TITLE.help);
  opensHelp.classList.add("hx-open-help");
  const help = popover(opensHelp, helpPanel(), { label: TITLE.helpName });
  const figure = headline();
  const el = h(
    "header",
    { class: "hx-title" },
    h("h1", { text: TITLE.name }),
    h("p", { class: "hx-why" }, ...explained(ctx.why)),
    figure.el,
    badge,
    h(
      "div",
      { class: "hx-title-buttons" },
      ctx.more,
      ctx.story && storyLink(),
      ctx.share?.el,
      help.el,
      presenterButton(),
      button("theme", TITLE.theme, () => ctx.onTheme()),
    ),
  );
  return {
    el,
    set(status) {
      badge.dataset.mode = status.mode;
      badge.dataset.tip = status.tip;
      say(text, status.text);
      for (const [name, word] of Object.entries(exact)) word.hidden = status.law !== name;
    },
    update: figure.update,
  };
}

/** The quiet way back to the opening. */
const storyLink = () =>
  h("button", {
    type: "button",
    class: "hx-story-link",
    "data-tip": STORY.linkTip,
    text: STORY.link,
    onclick: () => askForStory(),
  });
