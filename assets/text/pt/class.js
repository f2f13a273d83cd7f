/** Dar uma aula: o plano e as notas. */

const clocked = (/** @type {number} */ s) => `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
/** @type {Record<string, string>} */
const TABS = {
  explore: "Explorar",
  race: "Corrida",
  learn: "Lições",
  planner: "Plano",
  results: "Dados",
  atlas: "Atlas",
};

/** @type {import("../language.js").Translation<typeof import("../en/class.js")>} */
export const WORDS = {
  CLASS: {
    title: "Dar aula",
    lead: "Um caminho pelas lições, com o que dizer, o que a turma vai perguntar e uma segunda janela para as suas notas.",
    minutes: (n) => `${n} min`,
    back: "Voltar às lições",
    both: "Começar, com as notas em uma segunda janela",
    start: "Começar nesta janela",
    print: "Imprimir o plano",
    before: "Antes de começar",
    part: (n, title, from, to) => `${n}  ${title} (minutos ${from} a ${to})`,
    shows: (number, title, steps) =>
      `Mostra a lição ${number}, “${title}”, ${steps.length === 1 ? "passo" : "passos"} ${steps.join(", ")}.`,
    say: "Diga",
    asked: "O que a turma vai perguntar",
    discuss: "Pergunte à turma",
    tasks: "Tarefas",
    outcome: "O que devem encontrar:",
    notesOf: (title) => `Notas: ${title}`,
    startClock: "Iniciar o relógio",
    stopClock: "Zerar o relógio",
    clock: (s, due, all) => `${s === null ? "–" : clocked(s)} de ${all} min; esta parte termina aos ${due} min`,
    alone: "Nenhuma outra janela mostra esta aula.",
    openProjector: "Abrir uma para o projetor",
    previous: "Voltar",
    next: "Avançar",
    answer: "Mostrar a resposta",
    shown: (n, of, name) => `Na tela agora (${n} de ${of}): ${name}`,
    then: (name) => `Depois: ${name}`,
    end: "o fim",
    step: (lesson, step, title) => `lição ${lesson ?? "?"}, passo ${step}: ${title}`,
    tab: (query) => {
      const name = new URLSearchParams(query).get("tab") ?? "explore";
      return `a aba ${TABS[name] ?? name}`;
    },
    card: {
      task: (text) => `tarefa: ${text}`,
      discuss: (text) => `pergunta: ${text}`,
    },
    cardHead: { task: "A sua tarefa", discuss: "O que você acha?" },
    openTask: "Abrir o que ela precisa",
    partNow: (n, of, title, minutes) => `Parte ${n} de ${of}: ${title} (${minutes} min)`,
    unknown: (id) => `Não há aqui uma aula “${id}”; estas são as lições.`,
  },
};
