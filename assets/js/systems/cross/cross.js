/** Drafts with a tokenizer of their own: two rulers over the text of a round. */

import { bring } from "../index.js";
import { rulersOf } from "./rulers.js";

bring({ rounds: [{ name: "rulers", make: rulersOf }] });
