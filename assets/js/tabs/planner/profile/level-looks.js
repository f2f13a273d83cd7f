/** How the levels of a profile look and what they are called: by their specs, as the server names their kinds. */

import { stylesOf } from "../../../shared/levels/badge.js";
import { standIn } from "../../../shared/levels/kinds.js";
import { parse } from "../../../shared/levels/stack.js";
import { fullLevelName, levelName } from "../../../shared/levels/stack-names.js";

export function styled(/** @type {import("./profile.js").Profile} */ profile) {
  const top = profile.levels.length - 1;
  const kind = (/** @type {any} */ level) =>
    level.spec?.split(/[@:]/)[0] || standIn(level.hit_rate === undefined ? "level" : "lookup").name;
  const called = names(profile.levels);
  return stylesOf(
    profile.levels.map((level, i) => ({
      name: level.name,
      called: called[i],
      kind: i === top ? standIn("target").name : kind(level),
    })),
  );
}

/** As `called` in app/tabs/planner/why.py has them: with all that tells them apart where several would have one name, and by
 *  their own names where nothing says what they are. @param {{name: string, spec?: string}[]} levels @returns {string[]} */
function names(levels) {
  const top = levels.length - 1;
  const read = levels.map(({ spec }, i) => (spec ? parse(i === top ? spec : `${spec},target`)?.[0] : null));
  const found = levels.map(({ name }, i) => (read[i] ? levelName(read[i]) : name));
  const once = (/** @type {string} */ name) => found.indexOf(name) === found.lastIndexOf(name);
  return found.map((name, i) => (once(name) || !read[i] ? name : fullLevelName(read[i])));
}
