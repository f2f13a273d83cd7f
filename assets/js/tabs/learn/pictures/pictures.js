/** The picture of a step by the name that lessons call it. */

import { costsPicture, gainsPicture, passesPicture, rowsPicture } from "./charts.js";
import { coinPicture } from "./coin-picture.js";
import { hopsPicture } from "./hops-picture.js";
import { loadMapPicture, requestsPicture, rowsByMachinePicture, underLoadPicture } from "./requests-pictures.js";
import { movingPicture } from "./moving.js";
import { yieldsPicture } from "./yields-picture.js";
import { brought } from "../../../systems/index.js";
import { h } from "../../../shared/kit/dom.js";
import { MISSING } from "../../../../text/en/pictures.js";
import { frame } from "./frame.js";

/** @import {Picture, PictureContext} from "./frame.js" */

/** @type {Record<string, (ctx: PictureContext) => Picture>} */
const MAKERS = {
  text: movingPicture,
  round: movingPicture,
  lanes: movingPicture,
  roll: movingPicture,
  passes: passesPicture,
  rows: rowsPicture,
  costs: costsPicture,
  gains: gainsPicture,
  yields: yieldsPicture,
  coin: coinPicture,
  hops: hopsPicture,
  requests: requestsPicture,
  under_load: underLoadPicture,
  load_map: loadMapPicture,
  row_costs: rowsByMachinePicture,
};

/** One that nobody brings says so. @param {PictureContext} ctx @returns {Picture} */
export function pictureOf(ctx) {
  const { kind } = ctx.figure;
  const make = MAKERS[kind] ?? brought.pictures.find(({ name }) => name === kind)?.make;
  if (make) return make(ctx);
  return frame(kind, MISSING.label, [h("p.hx-sketch-waits", MISSING.text(kind))]);
}
