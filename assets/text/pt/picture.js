/** Salvar um gráfico como imagem. */
/** @type {import("../language.js").Translation<typeof import("../en/picture.js")>} */
export const WORDS = {
  words: {
    save: (what) => `salvar como imagem: ${what}`,
    svg: "SVG",
    svgNote: "gráfico vetorial, para artigos e slides",
    png: "PNG",
    pngNote: "pixels, com o dobro da resolução desta tela",
    light: "fundo claro",
    failed: "O navegador não conseguiu desenhar a imagem.",
  },
};
