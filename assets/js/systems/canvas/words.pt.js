/** O que a página diz das lacunas. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  BLOCK: {
    label: (n) => `Bloco ${n}, suas células da esquerda para a direita`,
    legend: "O número pequeno é a passagem que preencheu uma célula; as células da última passagem são mais escuras.",
    cell: (cell, pass) =>
      pass === null ? `célula ${cell}: vazia` : pass ? `célula ${cell}, passagem ${pass}` : `célula ${cell}, dada`,
  },
  PASSES: {
    label: "Um bloco de lacunas, passagem por passagem",
    slider: "após a passagem",
    says: (pass, filled, canvases) =>
      `${pass} passagens, ${filled} células${canvases > 1 ? `. A última passagem calculou ${canvases} estados do bloco` : ""}.`,
  },
  LAW: {
    label: "Quão longe da distribuição certa, por R e por células de uma passagem",
    r: { label: "R", text: (v) => String(v) },
    most: { label: "células por passagem", text: (v) => String(v) },
    across: "células mantidas por passagem",
    up: "distância da distribuição certa",
    says: (kept, apart) =>
      `${kept} células por passagem; ${apart} da probabilidade está em textos errados. Calculado aqui sobre todos os 1.024 textos de uma língua de quatro palavras, nada é sorteado.`,
  },
  PRICES: {
    label: "O que estados à frente ganham, por máquina",
    here: "dois núcleos de CPU",
    times: (gain) => `${gain}\u00d7`,
    says: (steps, states) =>
      `Simulado: ${steps} passos e ${states} estados por passagem são contados nesta execução; o tempo de uma passagem, 16 linhas por estado, é o do SmolLM2 em dois núcleos, ou calculado para outras máquinas.`,
  },
  REWRITES: {
    label: "Um bloco reescrito até ficar parado",
    slider: "rascunho",
    pass: "passagem",
    says: (passes, kept, of, swings) =>
      `${swings ? `Oscila entre rascunhos e foi tomado como estava após ${passes} passagens` : `Ficou parado após ${passes} passagens`}; o leitor manteve ${kept} de ${of}. Em cor: o que uma passagem mudou.`,
  },
};
