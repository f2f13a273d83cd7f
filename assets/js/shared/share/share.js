/** The Share button of the title bar, and the way out of a frame; what the button opens is loaded then. */

import { h, icon, popover, say } from "../kit/dom.js";
import { loadStyles } from "../kit/styles.js";
import { words } from "../../../text/en/share.js";

/** @param {import("./links.js").Shown} shown */
export function shareButton(shown) {
  /** @type {Promise<{el: HTMLElement, show: (token: number|null) => void}>|null} */ let coming = null;
  /** @type {number|null} */ let chosen = null; // the token whose card was open
  const panel = h("div.hx-share-panel", h("p.hx-item-note", words.packing));
  const button = h("button.hx-icon-button.hx-share-open", { "aria-label": words.share, "data-tip": words.shareTip }, [
    icon("share"),
  ]);
  const build = async () => {
    const [{ sharePanel }] = await Promise.all([import("./panel.js"), loadStyles("share")]);
    const made = sharePanel(shown);
    panel.replaceChildren(made.el);
    return made;
  };
  const open = () => {
    coming ??= build();
    const token = shown.view.selected ?? chosen;
    chosen = null;
    coming.then(
      (made) => made.show(token),
      (error) => {
        coming = null; // the next press tries again
        say(/** @type {Element} */ (panel.firstElementChild), String(error?.message ?? error));
      },
    );
  };
  // A press closes the card, and the token is forgotten, before this opens.
  button.addEventListener("pointerdown", () => (chosen = shown.view.selected));
  return popover(button, panel, { label: words.share, onOpen: open });
}

// In a frame of another page (?embed=1): the way to the whole page, as it stands when it is taken.

export function wholePage() {
  const link = h("a.hx-embed-link", { target: "_blank", rel: "noopener", text: words.wholePage });
  const aim = () => {
    const query = new URLSearchParams(location.search);
    query.delete("embed");
    link.href = `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`;
  };
  for (const sign of ["pointerenter", "focus", "click"]) link.addEventListener(sign, aim, { capture: true });
  aim();
  return link;
}
