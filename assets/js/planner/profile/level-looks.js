/** How the levels of a profile are coloured: by their specs, as the server names their kinds. */

import { stylesOf } from "../../levels/badge.js";
import { grammar } from "../../levels/kinds.js";

export function styled(profile) {
  const top = profile.levels.length - 1;
  const lookup = [...grammar.kinds.values()].find(({ origins }) => origins.length)?.name ?? "";
  return stylesOf(
    profile.levels.map((level, i) => ({
      name: level.name,
      kind: i === top ? "target" : level.spec?.split(/[@:]/)[0] || (level.hit_rate === undefined ? "model" : lookup),
    })),
  );
}
