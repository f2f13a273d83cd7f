/** Levels that work at the same time: what the lanes show of it. */

import { bring } from "../index.js";
import { twoLanes } from "./two-lanes.js";

bring({ lanes: [{ name: "meanwhile", create: twoLanes }] });
