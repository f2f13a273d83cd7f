/** Wenn ein Diagramm als Bild gespeichert wird. */

/** @type {import("../language.js").Translation<typeof import("../en/picture.js")>} */
export const WORDS = {
  words: {
    save: (what) => `als Bild speichern: ${what}`,
    svg: "SVG",
    svgNote: "Vektorgrafik, für Aufsätze und Folien",
    png: "PNG",
    pngNote: "Bildpunkte, in doppelter Auflösung dieses Bildschirms",
    light: "heller Hintergrund",
    failed: "Der Browser konnte das Bild nicht zeichnen.",
  },
};
