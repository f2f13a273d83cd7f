/** Os botões que abrem o que está a um toque da primeira tela. */
/** @type {import("../language.js").Translation<typeof import("../en/panels.js")>} */
export const WORDS = {
  PANEL: {
    time: "Para onde vai o tempo",
    timeTip: "o que cada nível computou e quando, e os números da execução",
    stack: "Mudar",
    stackTip: "ligar e desligar níveis, movê-los, definir quanto rascunham, acrescentar outros",
    details: "Detalhes",
    detailsTip: "letras, pontos e contagens em cada token: que nível o escreveu, aceitou ou rejeitou",
    controls: "Mais",
    controlsTip: "gravações, exemplos, configurações, compartilhar, apresentar, prova, ajuda e como o texto é mostrado",
  },
};
