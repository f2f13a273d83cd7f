/** Drafts without some sublayers: what is lost without each, on a card of the Atlas. */

import { bring } from "../index.js";

bring({ later: [{ tab: "atlas", load: () => import("./ladder-figure.js") }] });
