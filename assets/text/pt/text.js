/** O painel do texto. */

import { many } from "../many.js";

/** "de o modelo" como se diz. */
const spoken = (/** @type {string} */ text) =>
  text
    .replaceAll("de o modelo", "do modelo")
    .replaceAll("por o modelo", "pelo modelo")
    .replaceAll(" a o modelo", " ao modelo");

/** @type {import("../language.js").Translation<typeof import("../en/text.js")>} */
export const WORDS = {
  TEXT: {
    colours: {
      level: "nível que forneceu",
      passed: "nível que aceitou",
      source: "base ou profundidade",
      time: "tempo",
    },
    noneNow: "nenhum agora; antes: ",
    title: "O texto",
    colourBy: "cor por",
    colourTips: {
      level: "o token tem a cor do nível que o forneceu",
      passed: "o token tem a cor do nível mais alto que o aceitou antes do alvo",
      source: "o token tem a cor da base em que foi encontrado ou da camada em que foi lido",
      time: "a cor do token mostra o tempo da sua rodada, dividido entre os tokens da rodada",
    },
    openFile: "abrir um arquivo de trace; você também pode soltá-lo em qualquer lugar da página",
    saved: (name) => `O trace foi salvo como ${name}.`,
    noRun: "Ainda não há nenhuma execução.",
    above: "↑ início",
    ghostsTip:
      "rascunhos que um nível rejeitou, riscados no lugar onde estavam; os que começariam uma linha ficam no fim da linha anterior",
    ghosts: "rascunhos rejeitados",
    wholeTip: "o texto inteiro desde o começo, no lugar da torre",
    whole: "texto inteiro",
    copy: "copiar o texto",
    copied: "O texto foi copiado.",
    save: "baixar o trace",
    nothing: "Nada foi executado ainda.",
    nothingYet: "Escreva um prompt e aperte Gerar: o texto aparece aqui, cada token com a cor do nível que o forneceu.",
    firstRun:
      "A primeira execução baixa e carrega os pesos, o que leva um ou dois minutos; as seguintes começam na hora. Você também pode abrir um arquivo de trace.",
    label: "o texto",
    waiting: "Os níveis estão lendo o prompt; nada foi escrito ainda.",
    nothingWritten: "Nada foi escrito.",
    circles: (small) =>
      `Daqui em diante o texto anda em círculos. ${small ? "Este modelo tem só 135 milhões de parâmetros, para rodar em qualquer notebook, e modelos pequenos fazem isso." : "Modelos pequenos fazem isso."} Texto repetido é o que a busca adivinha melhor: em outros textos ela ganha menos.`,
    flow: "O texto, token por token. As setas passam de um token a outro.",
  },
  TOKEN: {
    newline: "quebra de linha ",
    how: { draft: "rascunhado por", correct: "correção de", bonus: "bônus de" },
    is: (text, how, level) => spoken(`${text}: ${how} ${level}`),
    copied: (fromPrompt) => `copiado do ${fromPrompt ? "prompt" : "texto"}`,
    accepted: (levels) => spoken(`aceito por ${levels.join(", ")}`),
    rejected: (level) => spoken(`rejeitado por ${level}`),
    gone: "fora do texto",
    lost: "perdido com um token rejeitado antes dele",
    tentative: "ainda não confirmado",
    candidate: (nth, of) => `candidato ${nth} de ${of} para este lugar`,
    unasked: "não julgado, outro foi mantido",
    more: (count) => `mais ${many(count, "token rejeitado", "tokens rejeitados")} aqui`,
  },
  TREE: {
    said: (sequences, tokens) =>
      `${many(sequences, "candidato", "candidatos")}${sequences > 1 ? " lado a lado" : ""}, ${many(tokens, "token", "tokens")}`,
    judged: (said, x) =>
      spoken(
        `${said}: ${many(x.kept, "mantido", "mantidos")}, ${many(x.rejected, "rejeitado", "rejeitados")} por ${x.level}${x.rest ? `, ${many(x.rest, "não julgado", "não julgados")}` : ""}`,
      ),
    waits: (said) => `${said}: ainda não julgados`,
    dock: "Candidatos abaixo do texto",
    more: (below, above) =>
      [below ? `↓ mais ${below}` : "", above ? `↑ ${above} acima` : ""].filter(Boolean).join(", "),
    label: (said) => `Candidatos. ${said}. Linha por linha, na ordem em que são julgados.`,
  },
};
