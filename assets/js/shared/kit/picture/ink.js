/** Colours as any program reads them: what a style sheet mixes becomes red, green, blue and opacity. */

/** @type {Map<string, {colour: string, opacity: number}>} */ const known = new Map();
/** @type {CanvasRenderingContext2D|null} */ let pixel = null;

/** @param {string} css a computed colour @returns {{colour: string, opacity: number}} opacity 0: nothing to draw */
export function inkOf(css) {
  const found = known.get(css);
  if (found) return found;
  pixel ??= Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", {
    willReadFrequently: true,
  });
  let ink = { colour: "none", opacity: 0 };
  if (pixel && CSS.supports("color", css)) {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = css;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
    ink = { colour: `rgb(${r},${g},${b})`, opacity: Math.round((a / 255) * 1000) / 1000 };
  }
  known.set(css, ink);
  return ink;
}

/** How far the letters of a font rise above the line, as a share of their height. @param {CSSStyleDeclaration} style */
export function riseOf(style) {
  const context = pixel ?? (inkOf("black"), pixel);
  if (!context) return 0.8;
  context.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = context.measureText("x");
  return up / (up + down);
}
