/** O que se pode executar e como está indo. */

import { many } from "../many.js";
import { count, fixed, precise } from "../numbers.js";

/** @param {number} n @param {string} one @param {string} more */
function many2(n, one, more) {
  return many(n, one, more).replace(String(n), count(n));
}

/** @type {import("../language.js").Translation<typeof import("../en/run.js")>} */
export const WORDS = {
  PROMPT: {
    stop: "Parar",
    stopping: "Parando…",
    examples: "Exemplos",
    try: "Experimente",
    tryLabel: "exemplos que vão bem com este modelo",
    tryTip: (prompt) => `escreve uma resposta para: ${prompt}`,
    otherTip: (prompt, invite) => `Este texto foi escrito para outro prompt: “${prompt}”. ${invite}`,
    other: "para outro prompt",
    placeholder:
      "O prompt está vazio, então não há o que gerar. Escreva um aqui ou escolha um exemplo em Mais; Ctrl+Enter gera.",
    label: "prompt",
    generate: "Gerar",
    before: (ahead) => `${ahead} antes da sua`,
    pace: (answers) =>
      `${answers ? `, cerca de ${fixed(answers, answers < 1.5 ? 1 : 0)} por minuto` : ""}; gravações não esperam`,
    settings: "configurações",
    form: "o que executar",
    generateTip: "executa esta pilha com este prompt (Ctrl+Enter)",
    stopTip: "para, no máximo depois desta rodada (Esc)",
    stoppingTip: "terminando a rodada",
    noPreset: "Nenhum preset está disponível, então nada pode ser executado.",
    simulated: "Esta pilha é simulada: não há pesos para ela aqui. Escolha outra pilha para gerar texto.",
    size: (characters, tokens, most) =>
      `${many2(characters, "caractere", "caracteres")}, cerca de ${many2(tokens, "token", "tokens")}${most ? `; no máximo ${many2(most, "token é lido", "tokens são lidos")} aqui` : ""}`,
    over: (text, most) => {
      const length = text.length > most ? [...text].length : 0;
      return length > most
        ? `O prompt tem ${count(length)} caracteres, e no máximo ${count(most)} são lidos aqui: encurte-o ou inicie o programa com app.py --prompt-tokens 8192.`
        : "";
    },
    unfold: "Mostrar mais",
    fold: "Recolher",
    tooLong: "para servidores que leem prompts mais longos (app.py --prompt-tokens 8192)",
    noLongText: "O texto não chegou; escolha-o de novo.",
    empty: "O prompt está vazio: escreva algo ou escolha um exemplo.",
  },
  SETTINGS: {
    off: "não pode ser usado aqui",
    groups: { model: "Modelo", sampling: "Amostragem", run: "Execução" },
    preset: ["preset", "quais pesos"],
    presets: "Presets",
    targets: "Alvos deste servidor",
    whyNot: (n) => `Por que ${n === 1 ? "um não pode ser usado" : `${n} não podem ser usados`}`,
    device: ["dispositivo", "onde os níveis rodam"],
    anyDevice: "o melhor disponível",
    temperature: ["temperatura", "0 é guloso (greedy): sempre o token mais provável"],
    topK: ["top-k", "mantém os k tokens mais prováveis; 0 mantém todos"],
    topP: ["top-p", "mantém o menor conjunto de tokens com esta probabilidade"],
    seed: ["semente", "a mesma semente dá a mesma execução"],
    newTokens: ["tokens novos", "gera no máximo esta quantidade"],
    baseline: [
      "medir também a decodificação simples",
      "depois da execução, decodifica o mesmo prompt só com o alvo, para que a aceleração seja medida",
    ],
    replan: [
      "auto: replanejar durante a geração",
      "os níveis da torre são opções: entre as rodadas decide-se de novo quais deles rodam e com qual T, a partir de um perfil medido e do que as rodadas anteriores aceitaram",
    ],
    depths: [
      "medir as profundidades depois da execução",
      "mais uma passagem sobre o texto: o que cada camada teria escrito em cada lugar (“Em que camada o modelo já sabia?”, abaixo)",
    ],
    raw: ["prompt cru", "sem o modelo de conversa (chat template)"],
    detail: ["registro", "o que o trace guarda de cada token"],
    details: { full: "tudo", light: "sem linhas de probabilidade" },
  },
  STATUS: {
    places: { cpu: "CPU", cuda: "GPU" },
    live: "ao vivo",
    interrupted: "interrompida",
    recorded: "gravada",
    auto: "auto",
    target: "alvo",
    unknown: (kinds) =>
      `${kinds.length > 1 ? "níveis não instalados" : "nível não instalado"} aqui (${kinds.join(", ")})`,
    unknownTip: "O que executa esse nível não está instalado aqui: a gravação é desenhada com outra cor e outra letra.",
    exactTip: (why) => `Exato: ${why}.`,
    differs: (n) => `outro texto a partir do token ${n + 1}`,
    differsTip: (margin) =>
      `A decodificação simples escreveu outro texto; onde eles divergem, ${margin === null ? "não se sabe a distância entre os seus dois melhores logits" : `os seus dois melhores logits estavam a ${precise(margin, 2)} um do outro`}.`,
    lossyTip: (why) => `Com perda: ${why}.`,
    levels: (n) => many(n, "nível", "níveis"),
    spoken: (state, x) => {
      const speed = x.speed ? `, ${fixed(x.speed, 0)} tokens por segundo` : "";
      const kept = x.kept === null ? "" : `, ${Math.round(100 * x.kept)} por cento dos rascunhos mantidos`;
      return `${state}: ${many(x.tokens, "token", "tokens")}${speed}${kept}${x.plan === null ? "" : `, plano: ${x.plan}`}.`;
    },
    preparing: "preparando a execução",
    none: "nenhuma execução ainda",
    start: "Escolha uma gravação ou aperte Gerar.",
    choose: "Escolha uma gravação.",
    liveStopped: "ao vivo, parada",
    liveDone: "ao vivo, concluída",
    autoTip: "Auto: níveis e comprimentos de bloco podem mudar entre as rodadas.",
    machine: (machine) => `Máquina: ${machine}.`,
    simulated: "simulada: nenhum modelo rodou",
    simulatedTip: (what) => `Simulada: ${what}. O motor, suas regras e cada evento são reais.`,
    weights: (from) => `Pesos: ${from}.`,
  },
  STAGE: {
    lanes: "raias em um relógio",
    leftOut: (names) => `Deixado fora do endereço por ser inválido: ${names}.`,
    unread: (stack) => `${stack} não é uma pilha que o compositor consiga ler.`,
    composed: (stack, then) => `${stack}: está no compositor. ${then}`,
    busy: "A sua execução precisa terminar antes; depois aperte Gerar.",
    cannot: (reason) => `Não pode ser executada: ${reason}`,
    press: "Aperte Gerar para executá-la.",
    simulating: "Simulando o plano; a primeira vez leva alguns segundos.",
    stoppedEarly: "Parada antes de começar.",
    stoppedFetching: "Parada. O que já foi baixado fica guardado: Gerar continua dali.",
    unanswered: "o servidor não respondeu",
    unreached: "O servidor não pode ser alcançado; esta página tenta de novo.",
  },
  PRICE: {
    short: (share) => `${share} não são do alvo`,
    said: (share, nats, plain) =>
      `${share} dos tokens não são a escolha do próprio alvo; surpresa média de ${nats} nats por token${plain === null ? "" : `, no texto da decodificação simples ${plain}`}`,
    figure: [
      "preço",
      "Tokens que, depois do mesmo texto, não são a escolha do próprio alvo, e quanto ele se surpreende: a média de \u2212ln p à temperatura 1, lida pelo alvo sozinho depois da execução",
    ],
    spared: "mantido por uma regra com perda: o alvo sozinho teria escrito outro token",
  },
};
