/** Early exits: their studies on the Results tab, and a lesson's picture of what an exit and its target compute. */

import { bring } from "../index.js";

bring({
  later: [
    { tab: "results", load: () => import("./early-exits.js") },
    { tab: "learn", load: () => import("./cache-picture.js") },
  ],
});
