/** Levels that work at the same time: what the lanes show of it, a lesson's picture, and a question of the Planner. */

import { loadStyles } from "../../shared/kit/styles.js";
import { bring } from "../index.js";
import { twoLanes } from "./two-lanes.js";

bring({
  lanes: [{ name: "meanwhile", create: twoLanes }],
  later: [
    { tab: "learn", load: () => import("./lock-step-picture.js") },
    {
      tab: "planner",
      load: () => Promise.all([import("./second-machine.js"), loadStyles("../js/systems/lanes/second")]),
    },
  ],
});
