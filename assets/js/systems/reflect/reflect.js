/** A draft that is read twice: each token's probability in either reading of a round. */

import { bring } from "../index.js";
import { notedCall, readings } from "../../shared/anatomy/readings.js";
import { REFLECT } from "./words.js";

bring({
  rounds: [
    {
      name: "reflect",
      make(model, round, { at, call }) {
        const seen = notedCall(round, call, at, "reread");
        const note = seen?.segment.notes?.reread;
        if (!seen || !note?.nodes.length) return null;
        const columns = [[...note.first], [...note.second]];
        return readings(model, seen, columns, [REFLECT.first, REFLECT.second], REFLECT.says(note.rows));
      },
    },
  ],
});
