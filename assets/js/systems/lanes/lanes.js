/** Levels that work at the same time: what the lanes show of it, and a lesson's picture. */

import { bring } from "../index.js";
import { twoLanes } from "./two-lanes.js";

bring({
  lanes: [{ name: "meanwhile", create: twoLanes }],
  later: [{ tab: "learn", load: () => import("./lock-step-picture.js") }],
});
