/** What the page says of a second reading. */

import { translate } from "../../../text/language.js";

export const REFLECT = {
  first: "first reading",
  second: "second reading",
  says: (/** @type {number} */ rows) =>
    `The model read the draft twice in one pass: ${rows} rows more. It judges by a mixture of both.`,
};

translate("systems/reflect", { REFLECT });
