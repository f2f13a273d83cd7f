/** A barra de uma turma: aonde o instrutor leva, quem está presente, o que foi respondido. */

import { LANGUAGE } from "../language.js";
import { many } from "../many.js";

const figure = (/** @type {number} */ x) => x.toLocaleString(LANGUAGE, { maximumFractionDigits: 6 });
const unit = (/** @type {string} */ text) => (text ? ` ${text}` : "");
/** @type {Record<string, string>} */
const TABS = {
  explore: "Explorar",
  race: "Corrida",
  learn: "Lições",
  planner: "Plano",
  results: "Dados",
  atlas: "Atlas",
};

/** @type {import("../language.js").Translation<typeof import("../en/workshop.js")>} */
export const WORDS = {
  WORKSHOP: {
    label: "A turma",
    joining: "Código",
    join: "Entrar na turma",
    coming: "Entrando na turma…",
    wrong: (why) => `Você não está na turma: ${why}.`,
    slowed: (s) => `Vieram daqui códigos errados demais. Nova tentativa em ${s} s…`,
    lost: "A turma não pode ser alcançada; tentando de novo…",
    idle: "Você está na turma. Até o instrutor conduzir, explore por conta própria.",
    leads: (place) => `O instrutor conduz: ${place}`,
    freed: (place) => `Explore por conta própria. A turma esteve por último em: ${place}`,
    again: "Voltar à turma",
    there: "Ir para lá",
    here: (n) => many(n, "participante presente", "participantes presentes"),
    hereShort: (n) => many(n, "presente", "presentes"),
    screens: (place) => `Todas as telas: ${place}`,
    still: (place) => `Todas as telas ainda mostram: ${place}`,
    free: "As telas estão livres",
    send: "Enviar isto a todos",
    sendShort: "Enviar a todos",
    keeps: "e o que eu abrir depois",
    keepsShort: "e depois",
    release: "Liberar as telas",
    releaseShort: "Liberar",
    code: (code) => `Código da sala ${code}`,
    codeTip: "mostrar à sala o endereço e o código",
    unsent: "Isto é só seu; abra o que a turma deve ver.",
    failed: (why) => `Isso não chegou à turma: ${why}`,
    answers: "Respostas",
    answered: (n) => many(n, "resposta", "respostas"),
    show: "Mostrar as respostas a todos",
    hide: "Esconder as respostas",
    csv: "Respostas em CSV",
    csvTip: "todas as respostas até aqui em uma tabela para planilha; sem nomes",
    csvColumns: ["lição", "título", "passo", "pergunta", "resposta", "unidade", "participantes"],
    answersTo: (step) => `Respostas à pergunta do passo ${step}`,
    choice: (n) => `opção ${n}`,
    share: (n, of) => `${n} (${of ? Math.round((100 * n) / of) : 0}%)`,
    bin: (from, to, of) => {
      if (from === null) return `até ${figure(to ?? 0)}${unit(of)}`;
      if (to === null) return `${figure(from)}${unit(of)} ou mais`;
      return from === to ? `${figure(from)}${unit(of)}` : `${figure(from)} a ${figure(to)}${unit(of)}`;
    },
    poster: {
      title: "Entre na turma",
      open: "Escaneie o código ou abra",
      enter: "e digite",
      label: "Código QR do endereço da turma",
      close: "Fechar",
      here: "Só esta máquina pode abrir este endereço. Conecte-a à rede da sala e inicie o servidor de novo.",
      failed: "O código QR não pôde ser desenhado; o endereço e o código bastam.",
    },
    places: {
      step: (lesson, step) => `lição ${lesson}, passo ${step}`,
      lessons: "a lista de lições",
      card: { task: "uma tarefa para a turma", discuss: "uma pergunta para a turma" },
      race: (name) => (name ? `a corrida “${name}”` : "as corridas"),
      load: (n) => `${n || "muitas"} solicitações juntas`,
      pair: (titles) => `${titles.map((one) => `“${one}”`).join(" e ")}, lado a lado`,
      recording: (title, round) => `a gravação “${title}”${round ? `, rodada ${round}` : ""}`,
      system: (name) => (name ? `${name}, no Atlas` : "o Atlas"),
      stack: (name) => `a pilha “${name}”`,
      run: "uma execução do instrutor",
      tab: (name) => `a aba ${TABS[name] ?? name}`,
      explore: "Explorar",
    },
  },
};
