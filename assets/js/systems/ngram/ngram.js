/** Lookups: the databases that were asked, and a lesson's picture of one lookup. */

import { bring } from "../index.js";
import { createDatabases } from "./databases.js";
import { DB } from "./words.js";

bring({
  desks: [{ name: "databases", key: "d", text: DB.open, tip: DB.openTip, help: DB.help, create: createDatabases }],
  later: [{ tab: "learn", load: () => import("./lookup-picture.js") }],
});
