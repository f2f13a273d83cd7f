/** The sentences of saving a chart as a picture. */

export const words = {
  save: (/** @type {string} */ what) => `save as a picture: ${what}`,
  svg: "SVG",
  svgNote: "lines and letters, for papers and slides",
  png: "PNG",
  pngNote: "pixels, twice as fine as this screen\u2019s",
  light: "light background",
  failed: "The browser could not draw the picture.",
};
