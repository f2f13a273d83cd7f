/** In a frame of another page (?embed=1): the way to the whole page, as it stands when it is taken. */

import { h } from "../kit/dom.js";
import { words } from "../../../text/en/share.js";

export function wholePage() {
  const link = h("a", { class: "hx-embed-link", target: "_blank", rel: "noopener", text: words.wholePage });
  const aim = () => {
    const query = new URLSearchParams(location.search);
    query.delete("embed");
    link.href = `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`;
  };
  for (const sign of ["pointerenter", "focus", "click"]) link.addEventListener(sign, aim, { capture: true });
  aim();
  return link;
}
