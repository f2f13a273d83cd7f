/** A aba Corrida. */

import { many } from "../many.js";
import { count, duration, fixed, local as point, precise, rounded } from "../numbers.js";

const local = (/** @type {number} */ x) => point(String(x));
/** @type {Record<string, string>} */
const CLOCKS = { reckoned: "calculado", real: "real", simulated: "simulado" };

/** @type {import("../language.js").Translation<typeof import("../en/race.js")>} */
export const WORDS = {
  WORDS: {
    title: "Corrida",
    lead: "Pilhas respondem a um prompt em uma máquina, uma rodada de cada vez por turno, cada uma no seu próprio relógio. A corrida começa quando o prompt foi lido.",
    choose: "corrida a reproduzir",
    own: "A sua",
    openFile: "abrir um arquivo de corrida",
    save: "salvar esta corrida como arquivo",
    setUp: "Correr com as suas pilhas",
    close: "Fechar",
    dropHint: "Solte aqui o arquivo da corrida",
    finish: "chegada",
    lanes: "as raias, em um só relógio",
    texts: "os textos; um token escolhido fica marcado em todos",
    playback: "Reprodução das raias",
    token: "Token",
    chooseToken: "Escolha um token em um texto para ver que nível o forneceu em cada raia.",
    shorter: "o texto desta raia já terminou",
    noRaces: "Nenhuma corrida acompanha esta página. Monte uma com as suas pilhas.",
    loading: "Abrindo a corrida…",
    onPlay: "Abrir em Explorar",
    onPlayTip: "abre esta raia na aba Explorar, com tudo o que cada nível fez",
    saveLane: "baixar esta raia como trace",
    reference: "as outras são comparadas com ela",
    speedUp: (own, first, repeats) =>
      `${own} tokens/s / ${first} da primeira raia, ${repeats} repetições juntas, que também decidem as colocações; o intervalo é de 95 %, pareado por repetição`,
    speedUpOnce: (own, first) => `${own} tokens/s / ${first} da primeira raia; uma repetição não dá intervalo`,
    noPlace:
      "Não tem colocação: os seus tempos são calculados, cada passagem executada e cronometrada sozinha e depois posta no relógio da sua raia, como se houvesse uma máquina para cada raia",
    otherClocks: "Os dois relógios são diferentes, então a razão não é medida de uma máquina",
    rate: "tokens confirmados até este momento / tempo no relógio desta raia desde a leitura do prompt, na repetição reproduzida",
    repeats: "a aceleração de cada repetição",
    how: "Como foi medido",
    sampled: (t, topP, seed) => `temperatura ${local(t)}, top-p ${local(topP)}, semente ${seed}`,
    greedy: "guloso (greedy)",
    noSuchRace: (name) => `Não há aqui uma corrida “${name}”; mostra-se outra.`,
    noSuchPair: (pair) => `“${pair}” não indica duas gravações desta página; mostra-se uma corrida.`,
    status: (status) => `status ${status}`,
    notOpened: (why) => `A corrida não pôde ser aberta: ${why}`,
    tooLarge: (mb) => `o arquivo tem mais de ${mb} MB; nenhuma corrida é tão grande`,
    saved: (name) => `A corrida foi salva como ${name}.`,
    prompt: "prompt",
    plain: "decodificação simples",
  },

  LANE: {
    nth: (nth) => `raia ${nth}`,
    written: (name) => `${name}: tokens escritos`,
    unit: " tokens/s",
    took: (time) => `em ${time}`,
    textOf: (nth, name) => `texto da raia ${nth}: ${name}`,
    token: (who, said, time) => `${who}: ${said}; depois de ${time}`,
    clock: (nth, of) => `token ${nth}\u2009/\u2009${of}`,
  },

  SAID: {
    place: (place) => (place === null ? "–" : `${place}º`),
    clocks: (clocks) => [...new Set(clocks.filter(Boolean).map((one) => CLOCKS[one ?? ""] ?? one))].join(" e "),
    rate: (value) => (value === null ? "–" : rounded(value)),
    gain: (value) => `${fixed(value, 2)}×`,
    interval: (interval) => (interval ? `${fixed(interval[0], 2)} a ${fixed(interval[1], 2)}` : "uma repetição"),
    text: (row, first, sampled, reference) => {
      if (first) return sampled ? "um texto próprio, sorteado" : "com este as outras são comparadas";
      if (sampled)
        return row.lossless
          ? "outro texto com a mesma distribuição: cada raia sorteia o seu"
          : "outro texto, com uma distribuição que não é a do alvo: esta pilha é com perda";
      const { equal, diverges, margin, tie, target } = row.same;
      if (!diverges)
        return `igual ao ${`de ${reference}`.replace(/^de raia/, "da raia")}: ${many(equal, "token", "tokens")}`;
      const where = `igual até o token ${equal}, depois diferente`;
      if (!target) return `${where}: o alvo é outro`;
      if (tie)
        return `${where}: um quase empate, com os dois melhores logits a ${precise(margin, 2)} um do outro (produtos de uma linha e de muitas linhas diferem nos últimos bits)`;
      const gap = margin === null ? "" : `, onde os dois melhores logits estão a ${precise(margin, 2)} um do outro`;
      return row.lossless ? `${where}${gap}` : `${where}${gap}: esta pilha é com perda`;
    },
    ahead: (ahead) =>
      ahead
        ? `${many(Math.abs(ahead), "token", "tokens")} ${ahead > 0 ? "à frente da" : "atrás da"} raia 1`
        : "empatada com a raia 1",
    finished: (name, ns) => `${name} terminou depois de ${duration(ns)}.`,
    places: (places) => `Todas as repetições juntas: ${places.map(([place, name]) => `${place} ${name}`).join("; ")}.`,
    origin: (race, repeats, otherOrder) => {
      const when = race.recorded ? `corrida de ${race.recorded}` : "corrida";
      const where = [race.machine, race.threads ? `${race.threads} threads` : "", race.device, race.dtype]
        .filter(Boolean)
        .join(", ");
      return `${when}${where ? ` em ${where}` : ""}; ${repeats === 1 ? "uma repetição" : `reproduz-se a repetição ${race.shown + 1} de ${repeats}, a de duração mediana${otherOrder ? "; a ordem das raias nela difere da de todas as repetições juntas, que decide as colocações" : ""}`}`;
    },
  },

  LIVE: {
    stacks: "Pilhas: de duas a quatro; com a primeira as outras são comparadas",
    label: "correr com as suas pilhas",
    preset: "preset",
    prompt: "prompt da corrida",
    examples: "exemplos",
    examplesLabel: "prompts de exemplo",
    length: "comprimento",
    tokens: (n) => many(n, "token", "tokens"),
    repeats: "correr",
    times: (n) => many(n, "vez", "vezes"),
    seed: "semente",
    temperature: "temperatura",
    noPreset: (reason) => `Nada pode correr aqui: ${reason || "nenhum preset pode ser usado"}.`,
    asking: "pedindo um lugar na fila",
    plainNote: "um token por forward",
    own: "A do próprio preset",
    ownNote: "o que Gerar executa por padrão",
    fromPlayNote: "como está composta lá agora",
    tooFew: "Escolha pelo menos duas pilhas.",
    tooMany: (most) => `Uma corrida tem no máximo ${most} pilhas; tire uma antes.`,
    noPrompt: "O prompt está vazio: escreva algo ou escolha um exemplo.",
    fromPlay: "A que está em Explorar",
    plainTitle: "Decodificação simples",
    go: "Começar a corrida",
    stop: "Parar",
    stopping: "Parando…",
    asked: "A corrida foi pedida.",
    stoppedEarly: "Parada antes de começar.",
    unreachable: "O servidor não pode ser alcançado; nada correu.",
    note: (longest) =>
      `Cada repetição roda todas as raias, uma rodada de cada vez por turno. A corrida espera na fila como qualquer execução e leva no máximo ${many(Math.round(longest / 60), "minuto", "minutos")}.`,
    fetched: (mb) => `Antes os pesos são baixados: ${count(mb)} MB.`,
  },

  COMPARE: {
    open: "Comparar duas execuções",
    races: "corridas gravadas",
    letters: ["A", "B"],
    run: (letter) => `execução ${letter}`,
    align: "alinhamento",
    byToken: "token por token",
    byTime: "por tempo",
    overPlain: (clock) =>
      clock ? `sobre a sua própria execução simples, ${clock}` : "sobre a sua própria execução simples",
    noPlain: "a decodificação simples não foi medida",
    gainTip:
      "tokens/s da execução / tokens/s da decodificação simples, medida junto com ela; duas gravações podem ser de dias diferentes",
    otherPrompts: "Elas respondem a prompts diferentes: compare os tempos, não as palavras.",
    differ: "outros níveis",
    differWords: (n, of) => `${n} de ${of} tokens vieram de um nível de outro tipo`,
    text: (found, index) => {
      if (index === 0) return "";
      if (!found.samePrompt) return "outro prompt";
      if (found.equal < found.least) return `igual ao de A até o token ${found.equal}, depois diferente`;
      return found.least === found.most
        ? `igual ao de A: ${many(found.least, "token", "tokens")}`
        : `igual ao de A enquanto os dois continuam, ${many(found.least, "token", "tokens")}`;
    },
  },
  LOAD: {
    open: "Muitas solicitações juntas",
    lead: "Um servidor atende muitas ao mesmo tempo: uma passagem lê os pesos para todas, e as linhas ficam caras. A decodificação simples e uma pilha respondem às mesmas solicitações, um lote depois do outro. O relógio começa quando todos os prompts foram lidos.",
    key: "Uma raia é uma solicitação, um bloco é uma das suas passagens: tão largo quanto a passagem durou, mais alto quanto mais linhas tinha desta solicitação, na cor do seu nível. Os tokens/s contam até a linha cinza, onde termina o primeiro texto. Aperte uma raia para ler o seu texto.",
    loads: "solicitações juntas",
    request: "texto da solicitação",
    stack: "pilha",
    go: "Executar aqui",
    none: (n) =>
      `Nenhuma gravação de ${many(n, "solicitação", "solicitações juntas")} vem com esta página. “Executar aqui” decodifica agora.`,
    unit: " tokens/s no total",
    rateTip:
      "tokens de todos os textos até este momento, no máximo até o fim do primeiro texto / tempo desde que o último prompt foi lido",
    tokens: (n) => many(n, "token", "tokens"),
    gain: (gain) => `${gain} a decodificação simples`,
    picture: (name, passes) => `${name}: uma raia para cada solicitação. ${passes.join("; ")}.`,
    passes: (level, n, rows) => `${level}: ${many(n, "passagem", "passagens")} de ${rows} linhas em média`,
    result: (load, [plain, own], gain) =>
      `${many(load, "solicitação", "solicitações juntas")}: no total ${plain} tokens/s pela decodificação simples, ${own} pela pilha, ${gain}.`,
    same: (equal, of) =>
      equal === of
        ? `igual ao da decodificação simples: ${many(of, "token", "tokens")}`
        : `igual ao da decodificação simples até o token ${equal}, depois diferente`,
    table: "As passagens como tabela",
    columns: ["nível", "passagens", "ms por passagem", "linhas por passagem", "solicitações por passagem"],
    origin: (head, nth, gains) => {
      const where = [head.machine, head.threads ? `${head.threads} threads` : "", head.device, head.dtype];
      const which =
        gains.length > 1
          ? `; a repetição ${nth} de ${gains.length} é mostrada, a de aceleração mediana (${gains.join(", ")})`
          : "";
      return `Medido em ${head.recorded} em ${where.filter(Boolean).join(", ")}: guloso, no máximo ${head.max_new_tokens} tokens por texto${which}.`;
    },
  },
};
