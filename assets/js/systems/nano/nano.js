/** Trained drafts: what training buys, on the Results tab. */

import { bring } from "../index.js";

bring({ later: [{ tab: "results", load: () => import("./scaling-laws.js") }] });
