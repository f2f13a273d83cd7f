/** The sentences of saving a chart as a picture. */

import { translate } from "../language.js";

export const words = {
  save: (/** @type {string} */ what) => `save as a picture: ${what}`,
  svg: "SVG",
  svgNote: "vector graphics, for papers and slides",
  png: "PNG",
  pngNote: "pixels, at twice this screen\u2019s resolution",
  light: "light background",
  failed: "The browser could not draw the picture.",
};

translate("picture", { words });
