/** Kinds of text: a question of the Planner. */

import { bring } from "../index.js";

bring({ later: [{ tab: "planner", load: () => import("./kinds-of-text.js") }] });
