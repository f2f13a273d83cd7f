/** The title bar: what this is for, the big figure, what is shown, help, light or dark. */

import { askForStory } from "../../kit/curtain.js";
import { h, icon, popover, say } from "../../kit/dom.js";
import { explained } from "../../glossary/term.js";
import { headline } from "./headline.js";
import { helpPanel } from "./help.js";
import { presenterButton } from "./presenter.js";
import { TITLE } from "../../words/page.js";
import { STORY } from "../../words/story.js";

/**
 * `set({mode, text, tip})` says what is shown; `update` moves the figure.
 * @param {{why: string, story: boolean, share: {el: HTMLElement}|null, onTheme: () => void}} ctx why: the sentence that says why anyone
 *   does this; story: whether there is an opening to go back to; share: the button that opens Share
 */
export function titleBar(ctx) {
  const text = h("span", { class: "hx-status-text" });
  const badge = h(
    "span",
    { class: "hx-status", tabindex: "0", "data-mode": "idle" },
    h("i", { "aria-hidden": "true" }),
    text,
  );
  const button = (name, label, onclick) =>
    h(
      "button",
      { type: "button", class: "hx-icon-button", "aria-label": label, "data-tip": label, onclick },
      icon(name),
    );
  const help = popover(button("help", TITLE.help), helpPanel(), { label: TITLE.helpName });
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
