/** How the levels of a profile are coloured: by their specs, as the server names their kinds. */

import { stylesOf } from "../../../shared/levels/badge.js";
import { standIn } from "../../../shared/levels/kinds.js";

export function styled(profile) {
  const top = profile.levels.length - 1;
  const kind = (/** @type {any} */ level) =>
    level.spec?.split(/[@:]/)[0] || standIn(level.hit_rate === undefined ? "level" : "lookup").name;
  return stylesOf(
    profile.levels.map((level, i) => ({
      name: level.name,
      kind: i === top ? standIn("target").name : kind(level),
    })),
  );
}
