/** What a level's cache holds, along the bottom of its floor: committed and tentative. */

import { h } from "../../../../shared/kit/dom.js";
import { FLOOR } from "../../../../../text/en/tower.js";

export function kvBar() {
  const committed = h("i.hx-kv-committed");
  const held = h("i.hx-kv-held");
  const el = h("div.hx-kv", { role: "img", "aria-label": FLOOR.emptyCache, "data-tip": FLOOR.emptyCacheTip }, [
    committed,
    held,
  ]);
  return {
    el,
    update(/** @type {import("../../../../shared/run/events.js").KvLength|null} */ kv, /** @type {number} */ longest) {
      const known = kv ? Math.min(kv.cached, kv.committed) : 0;
      const tentative = kv ? Math.max(0, kv.cached - kv.committed) : 0;
      committed.style.width = `${(100 * known) / longest}%`;
      held.style.width = `${(100 * tentative) / longest}%`;
      const text = kv ? FLOOR.cache({ known, tentative, behind: kv.catch_up }) : FLOOR.emptyCacheTip;
      if (el.dataset.tip !== text) {
        el.dataset.tip = text;
        el.setAttribute("aria-label", text);
      }
    },
  };
}
