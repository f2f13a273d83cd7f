/** A judge of drafts: what its head thinks of each drafted token of a round. */

import { bring } from "../index.js";
import { notedCall, readings } from "../../shared/anatomy/readings.js";
import { JUDGE } from "./words.js";

bring({
  rounds: [
    {
      name: "judge",
      make(model, round, { at, call }) {
        const seen = notedCall(round, call, at, "opinions");
        const good = seen?.segment.notes?.opinions?.good;
        return seen && good?.length ? readings(model, seen, [[...good]], [JUDGE.good], JUDGE.says) : null;
      },
    },
  ],
});
