/** Where a run of drafted tokens was copied from, in words. */

import { PLACES } from "../../../text/en/caption.js";
import { isCopy } from "../run/copies.js";
import { kindOf, originOf } from "../levels/kinds.js";

/**
 * `place`: the places, each once; `copied`: how many of the tokens come from them; `source`: who drafted in a lookup's
 * stead, where it found nothing.
 * @param {import("../run/trace.js").TraceModel} model
 * @param {import("../run/records.js").TokenRecord[]} records
 */
export function origin(model, records) {
  /** @type {Set<string>} */ const places = new Set();
  let copied = 0;
  let source = "";
  for (const record of records) {
    const { kind } = model.levels[record.level];
    const found = originOf(kind, record.source);
    if (!found && !isCopy(record)) {
      if (kindOf(kind).origins.length) source ||= record.source;
      continue;
    }
    copied += 1;
    if (record.copied) places.add(record.copied.at < 0 ? PLACES.prompt : PLACES.text);
    else if (found) places.add(found.title.split(": ").at(-1) ?? found.title);
  }
  const place = places.size > 2 ? PLACES.many : [...places].join(PLACES.and);
  return { place, copied, source };
}
