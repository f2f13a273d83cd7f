/** A torre. */

import { many } from "../many.js";

/** "de o modelo" como se diz. */
const spoken = (/** @type {string} */ text) =>
  text
    .replaceAll("de o modelo", "do modelo")
    .replaceAll("por o modelo", "pelo modelo")
    .replaceAll(" a o modelo", " ao modelo");

/** @type {import("../language.js").Translation<typeof import("../en/tower.js")>} */
export const WORDS = {
  TOWER: {
    title: "A torre",
    picture: "torre",
    simulated: "simulado",
    label: "a torre: níveis da pilha",
    levels: "níveis, o alvo primeiro",
    readyMade: "pilhas prontas",
    own: "sua pilha",
    undo: "desfazer",
    undoTip: "desfaz a última mudança da pilha (Ctrl+Z)",
    other: "A execução mostrada usou outra pilha.",
    runThis: "Aperte Gerar para executar esta.",
    madeUp:
      "Simulado: nenhum modelo rodou. O tempo de cada chamada e a frequência com que os níveis concordam são suposições de um perfil.",
    madeUpOther:
      "Níveis simulados; a execução mostrada usou outra pilha deles. A aba Plano planeja e reproduz essas pilhas.",
  },
  FLOOR: {
    block: "T: o máximo de tokens que este nível entrega para cima",
    callTip: "ms por chamada: tempo ocupado / forwards deste nível, nesta execução",
    signs: (note) => `${note} · aprova tudo`,
    inStack: (name) => `${name} na pilha`,
    blockOf: (name) => spoken(`T, o comprimento do bloco de ${name}`),
    typed: (name) => spoken(`T de ${name}`),
    less: (what) => `${what}: um a menos`,
    more: (what) => `${what}: um a mais`,
    move: (name, nth, of) => `mover ${name}, nível ${nth} de ${of}: seta para cima ou para baixo`,
    moveTip: "arraste ou use as setas para mover este nível",
    details: (name) => spoken(`regra, política e ordem de ${name}`),
    up: "para cima",
    down: "para baixo",
    remove: "remover",
    emptyCache: "cache: nada ainda",
    emptyCacheTip: "cache deste nível: nada ainda",
    cache: (x) =>
      `cache deste nível: ${many(x.known, "posição confirmada", "posições confirmadas")}, ${many(x.tentative, "provisória", "provisórias")}; ${x.behind} a recuperar`,
    tree: (shape, again) => `árvore ${shape}${again ? " com reposição" : ""}`,
    dynamic: (most, again) => `árvore de ≤ ${most}${again ? " com reposição" : ""}`,
    upTo: (most) => `dinâmico · até ${most} tokens`,
    lookups: "busca",
    undrafted: (n) => `o tokenizador difere em ${many(n, "token especial", "tokens especiais")}, nunca rascunhados`,
    guesses: (n, letters) => `${many(n, "palpite", "palpites")} de ${letters}`,
    databases: (letters) => `bases ${letters}`,
    orElse: (databases, draft) => `${databases}, senão ${draft}`,
  },
  SHAFT: {
    kept: "aceitos",
    tip: "aceitação: tokens vindos de baixo que este nível aceitou / que ele julgou",
    is: (accepted, judged, offered) =>
      `aceitação: ${many(accepted, "aceito", "aceitos")} / ${many(judged, "julgado", "julgados")} entre os ${offered ? "lugares com candidatos" : "tokens vindos de baixo"}, nesta execução`,
  },
  DEPTH: {
    label: (name, layers) => `profundidade de ${name}: depois de quantas das ${layers} camadas ele sai`,
    of: (depth, layers) => `${depth} de ${layers}`,
    said: (depth, layers, how) => `camada ${depth} de ${layers}, ${how}`,
    drag: "arraste: a camada depois da qual esta saída lê",
    dragTrained: (depths) =>
      `arraste: a camada depois da qual esta saída lê; há rascunhos treinados em ${depths.join(", ")}`,
    at: "na camada",
    slow: (draft) => `${draft}; verifica uma linha por vez`,
    whereTrained: "rascunho treinado onde houver",
    lens: "lente: a norma e a cabeça do próprio modelo",
    own: "os do próprio preset",
    draftOf: (name) => `rascunho de ${name}`,
    readTip: "como os estados ocultos desta profundidade viram probabilidades",
    draftTip: "quais pesos treinados este nível usa",
    read: "leitura",
    draft: "rascunho",
    noMiss: "nada: o nível acima continua sozinho",
    missOf: (name) => `quando ${name} não encontra nada`,
    missTip: "quem rascunha quando nenhuma base tem uma continuação",
    miss: "sem achado",
    byDraft: (name) => `rascunho ${name}`,
    byLens: "lente: a cabeça do próprio modelo",
    trained: "rascunho treinado",
    untrained: "sem treino: a cabeça do próprio modelo",
  },
  PLAN: {
    out: "fora do plano",
    block: (block) => `T = ${block} no plano`,
    top: "no plano, aprova cada token",
    is: (round, stack, why) => `Auto, a partir da rodada ${round}: ${stack}${why ? ` (${why})` : ""}.`,
    left: (round, stack, why) => `A partir da rodada ${round}: ${stack} (${why}).`,
    here: (day) => `Perfil medido na máquina desta execução${day && ` em ${day}`}.`,
    unknown: "Não está registrado onde o perfil foi medido.",
    elsewhere: (x) => {
      const said = `Perfil ${x.given ? "fornecido" : "que acompanha o programa"}, medido${x.where && ` em ${x.where}`}${x.day && `, ${x.day}`}`;
      const alike =
        x.where === x.machine ? "outra máquina com a mesma descrição" : `não na máquina desta execução, ${x.machine}`;
      return `${said}: ${alike}, onde as passagens podem custar mais ou menos; python -m hsd_core calibrate ${x.option} faz a medição.`;
    },
    ofPreset: (preset) => `--preset ${preset}`,
    noProfileOf: (option) => `Não há aqui um perfil para planejar; meça um: python -m hsd_core calibrate ${option}`,
    auto: (text) => `Auto. ${text}`,
  },
  TRUNK: {
    embeddings: "lê os embeddings dos tokens",
    runs: (layers) => `executa ${layers}`,
    runsNone: "não executa nenhuma camada própria",
    reuses: (own, layers) => `${own}, reaproveita ${layers}`,
    exit: (depth, of) => `saída na camada ${depth} de ${of}`,
    bottom: (of) => `camada 0 de ${of}: os embeddings dos tokens`,
    whole: (layers) => `todas as ${layers} camadas`,
    ran: (parts, single) => {
      const words = parts.map((part, i) => {
        const passes = part.passes > 1 ? ` em ${part.passes} passagens` : "";
        return `${part.layers} em ${i ? part.rows : many(part.rows, "linha", "linhas")}${passes}${part.bonus ? " (bônus)" : ""}`;
      });
      return `${single ? "camada" : "camadas"} ${words.join(", ")}`;
    },
    passes: (parts) =>
      parts
        .map((part, i) => `${part.layers} em ${i ? part.passes : many(part.passes, "passagem", "passagens")}`)
        .join(", "),
    layers: (n) => many(n, "camada", "camadas"),
    label: (n, shares) => `Um modelo, ${many(n, "camada", "camadas")}: ${shares}.`,
    rows: (round, rows, shares) => `Linhas executadas por camada na rodada ${round}: ${rows}. Em repouso: ${shares}.`,
    on: (rows, layers) => `${rows} em ${layers}`,
  },
  STACK: {
    noTarget: (id) => `este servidor não oferece o alvo ${id}`,
    noLevel: (name) => `não há nível “${name}” sobre este modelo`,
    unusable: "não pode ser usado aqui",
    cannotDraft: (name) => `${name} não pode rascunhar; só serve como nível do topo`,
    noExit: (at, min, max) =>
      `a camada ${at} não é uma saída deste modelo: escolha uma profundidade de ${min} a ${max}`,
  },
  ADD: {
    none: "não há outro nível sobre este modelo",
    title: "acrescentar um nível",
    more: "Mais, sem previsão aqui",
    atFirst: (about, block) => `${about} Começa com T = ${block}.`,
    unusable: "não pode ser usado aqui",
    most: (levels) => `uma pilha tem no máximo ${levels} níveis`,
    cannotDraft: "não pode rascunhar; só serve como topo",
    isBottom: "já é o nível de baixo",
  },
  KEY: {
    label: "Palavras da torre",
  },
};
