/** Masked drafts: the cells of a block, the candidates of each, the line that went up, and where the level above cut it.
 */

import { bring } from "../index.js";
import { h } from "../../shared/kit/dom.js";
import { stateOf } from "../../shared/anatomy/round.js";
import { CELLS } from "./words.js";

/** @import {Call, Round, Tile} from "../../shared/anatomy/round.js"
 *  @import {TraceModel} from "../../shared/run/trace.js" */

/** @typedef {{text: string, share: number|null, went: boolean}} Candidate share: null where no search was made
 *  @typedef {{pass: number, state: string, candidates: Candidate[]}} Cell state: of the token that went up, "" for none */

/** The cells of a draft; none where it did not fill any in several passes or by a search.
 *  @param {TraceModel} model @param {Call} call @param {number} at a settled moment @returns {Cell[]} */
export function cellsOf(model, call, at) {
  const note = call.segment.notes?.lattice;
  if (!note) return [];
  const lattice = note.columns ?? [];
  const count = Math.max(lattice.length, call.tiles.length);
  return Array.from({ length: count }, (_, i) => {
    const tile = call.tiles[i];
    const column = lattice[i] ?? (tile ? [[tile.record.id, null]] : []);
    return {
      pass: note.passes?.[i] ?? 0,
      state: tile ? judged(model, tile, call, at) : "",
      candidates: column.map(([id, share]) => ({
        text: model.pieceText(id),
        share,
        went: tile?.record.id === id,
      })),
    };
  });
}

/** @param {TraceModel} model @param {Tile} tile @param {Call} call @param {number} at */
function judged(model, tile, call, at) {
  return tile.record.judgements.filter((j) => j.t <= at).at(-1)?.outcome ?? stateOf(model, tile, call, at);
}

const MARK = /** @type {Record<string, string>} */ ({ accepted: "\u2713", rejected: "\u2717" });

/** The picture; null where no draft of the round has cells to show.
 *  @param {TraceModel} model @param {Round} round @param {{at: number, call: Call|null}} view */
function latticeOf(model, round, { at, call }) {
  const has = (/** @type {Call|null|undefined} */ x) => x?.segment.notes?.lattice;
  const draft = has(call) ? call : round.calls.findLast((x) => has(x) && x.segment.t1 <= at);
  if (!draft) return null;
  const cells = cellsOf(model, draft, at);
  const level = model.levels[draft.segment.level];
  const passes = Math.max(...cells.map(({ pass }) => pass)) + 1;
  const searched = cells.some((cell) => cell.candidates.some(({ share }) => share !== null));
  const said = CELLS.says({ name: level.name, cells: cells.length, passes, searched });
  const columns = cells.map(({ pass, state, candidates }, i) =>
    h("ol.hx-filled", { "data-state": state }, [
      h("li.hx-filled-top", passes > 1 ? CELLS.pass(i + 1, pass + 1) : String(i + 1)),
      ...candidates.map(({ text, share, went }) =>
        h(
          `li.hx-filled-one${went ? ".hx-filled-went" : ""}`,
          { style: { "--share": `${Math.round((share ?? 1) * 100)}%` } },
          [h("span", { text }), went && MARK[state] ? h("i", { text: MARK[state] }) : ""],
        ),
      ),
    ]),
  );
  const spoken = cells.map(({ state, candidates }) => CELLS.cell(candidates, state)).join("; ");
  return h("div.hx-filleds", { role: "group", tabindex: "0", "aria-label": `${said} ${spoken}` }, [
    h("div.hx-filleds-row", { "aria-hidden": "true", style: { "--hue": level.hue } }, columns),
    h("p.hx-an-muted", said),
  ]);
}

bring({ rounds: [{ name: "cells", make: latticeOf }] });
