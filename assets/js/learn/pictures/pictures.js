/** The picture of a step by the name that lessons call it. */

import { cachePicture } from "./cache-picture.js";
import { costsPicture, gainsPicture, passesPicture, rowsPicture } from "./charts.js";
import { coinPicture } from "./coin-picture.js";
import { hopsPicture } from "./hops-picture.js";
import { lookupPicture } from "./lookup-picture.js";
import { movingPicture } from "./moving.js";
import { lockStepPicture } from "./lock-step-picture.js";
import { yieldsPicture } from "./yields-picture.js";

/** @type {Record<string, (ctx: import("./frame.js").PictureContext) => import("./frame.js").Picture>} */
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
  overlap: lockStepPicture,
  coin: coinPicture,
  cache: cachePicture,
  lookup: lookupPicture,
  hops: hopsPicture,
};

/** The kinds that app/learn/lessons.py may name. */
export const KINDS = Object.keys(MAKERS);

/** @param {import("./frame.js").PictureContext} ctx */
export const pictureOf = (ctx) => MAKERS[ctx.figure.kind](ctx);
