/** A language of blanks: the block as it is filled, beside the picture of a round; and pictures of a lesson. */

import { bring } from "../index.js";
import { blockOfRound } from "./block.js";

bring({
  rounds: [{ name: "blanks", make: blockOfRound }],
  later: [{ tab: "learn", load: () => import("./blank-pictures.js") }],
});
