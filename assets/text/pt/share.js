/** Compartilhar: links, códigos, arquivos. */

import { fixed } from "../numbers.js";

const kB = (/** @type {number} */ length) => `${fixed(length / 1000, length < 10_000 ? 1 : 0)} kB`;

/** @type {import("../language.js").Translation<typeof import("../en/share.js")>} */
export const WORDS = {
  words: {
    share: "Compartilhar",
    shareTip: "compartilhar: links, um código para celulares, a execução em um só arquivo",
    wholePage: "HSD Explorer ↗",
    settings: "Estas configurações",
    settingsNote: "Preset, pilha, prompt e amostragem; quem abrir o link aperta Gerar.",
    promptLeftOut: "Sem o prompt, que é longo demais para um link.",
    moment: "Este momento",
    momentNote: (at, token) =>
      `Rodada ${at.split(".")[0]}, evento ${at.split(".")[1]}${token === null ? "" : `, com o cartão do token ${token} aberto`}.`,
    notShipped: "Só para gravações que acompanham a página; o link abaixo serve para qualquer execução.",
    embed: "Código para incorporar",
    embedNote: "HTML para a sua própria página: o texto e o seu reprodutor em um quadro.",
    embedAllowed: " Inicie este servidor com --allow-embed e a origem daquela página.",
    embedTitle: (title) => `HSD Explorer${title ? `: ${title}` : ""}`,
    run: "A execução inteira",
    runNote: (length, bare) =>
      `${kB(length)}, dentro do link: nenhum servidor a guarda. Sem linhas de probabilidade${bare ? ", profundidades e tamanhos de cache" : " e profundidades"}.`,
    tooLong: (length, most) =>
      `Longa demais para um link (${kB(length)}; o limite é ${kB(most)}): baixe a execução e solte o arquivo na página.`,
    notOver: "A execução precisa terminar antes.",
    nothing: "Ainda não há nenhuma execução.",
    file: "Como arquivo",
    trace: "Trace",
    traceTip: "tudo o que foi gravado (.jsonl.gz): solte-o nesta página para abrir",
    html: "Página",
    htmlTip: "um arquivo HTML que reproduz esta execução sem servidor e sem rede",
    copy: "Copiar",
    code: "Código",
    copied: (what) => `Copiado: ${what}.`,
    saved: (name, size) => `Salvo como ${name} (${kB(size)}).`,
    pageFailed: "O servidor não conseguiu enviar o modelo da página; baixe o trace no lugar dele.",
    packing: "Empacotando a execução…",
    codeOf: (what) => `Código QR: ${what}`,
    codeTooLong: "Longo demais para um código QR.",
    codeFailed: "O servidor não conseguiu desenhar o código QR; copie o link.",
    close: "Fechar",
    here: "Este endereço só funciona nesta máquina. Inicie o servidor com --host 0.0.0.0 para que outros possam abri-lo.",
    hereAlone:
      "Este endereço só funciona nesta máquina. Passe a pasta adiante ou ponha-a em um site para que outros possam abri-la.",
    drop: "Solte o trace para abri-lo",
    dropNote: "um arquivo .jsonl ou .jsonl.gz de uma execução",
    dropNone: "Isso não era um arquivo: solte um trace .jsonl ou .jsonl.gz.",
    dropMany: "Só um arquivo por vez: o primeiro foi aberto.",
    linked: "uma execução por link",
    faults: {
      version: "O link contém uma execução de outra versão desta página; peça a execução como arquivo.",
      long: "A execução no link é longa demais; peça a execução como arquivo.",
      damaged: "A execução no link está danificada: o link pode ter sido cortado. Copie o link inteiro de novo.",
    },
    instead: (title, otherPrompt, otherStack, then) => {
      const of = [otherPrompt && "outro prompt", otherStack && "outra pilha"].filter(Boolean).join(" e ");
      return `Este link tem configurações, mas nenhuma execução. Até você executá-las, mostra-se a gravação “${title}”, com ${of}. ${then}`;
    },
    noSuchMoment: (at) => `Esta gravação não tem o momento ${at}; mostra-se o mais próximo.`,
    noSuchToken: (token) => `Esta gravação não tem o token ${token}; mostra-se o mais próximo.`,
    notYet: (token) => `O token ${token} ainda não está escrito nesse ponto; mostra-se o momento em que ele é escrito.`,
    noMoment: (what) => `Deixado fora do endereço por ser inválido: ${what}.`,
    noSuchRecording: (name, other) =>
      `Não há aqui uma gravação “${name}”; ${other ? `“${other}” tem o nome mais próximo e é mostrada` : "mostra-se outra"}.`,
  },

  slide: {
    row: "Cartão para slides",
    note: "16:9: a pilha, a velocidade, o texto, a máquina e o dia.",
    dark: "escuro",
    saved: (name) => `Salvo como ${name}.`,
    svgTip: "gráfico vetorial: nítido em qualquer tamanho",
    pngTip: "pixels, 2560 × 1440",
    of: (big, unit, stack) => `Cartão para slides: ${big} ${unit}; ${stack}`,
    brand: "HSD Explorer",
    about: "decodificação especulativa hierárquica",
    perPass: (tokens) => `${tokens} tokens por passagem`,
    kept: (share) => `${share} % dos rascunhos mantidos`,
    exact: "O texto é o que o modelo escreve sozinho.",
    inLaw: "Cada token é sorteado como o modelo sozinho o sortearia.",
    lossy: "Esta pilha pode mudar o texto.",
  },
};
