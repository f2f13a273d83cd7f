/** Saídas antecipadas: a figura de uma lição, e as frases dos estudos em Dados. */

import { fixed } from "../../../text/numbers.js";

const percent = (/** @type {number} */ share) => `${Math.round(100 * share)} %`;
const two = (/** @type {number} */ value) => fixed(value, 2);
const layers = (/** @type {number} */ n) => (n === 1 ? "1 camada" : `${n} camadas`);

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  EXITS: {
    title: "Saídas antecipadas",
    about: "o que cada profundidade sabe, quais saídas compensariam e o que seria preciso",
    lead: (preset, x) =>
      `${preset} rascunhando para si mesmo, como no HiSpec: o que as suas primeiras camadas já sabem, quais pilhas de saídas compensariam e o que seria preciso. ${x.texts} textos de ${x.prompts}, ${x.tokens} tokens, ${x.machine}, ${x.day}.`,
    unreachable: "O servidor não conseguiu enviar o estudo das saídas antecipadas; abra esta aba de novo para tentar.",
    command: "Comando",
    lens: "a cabeça do próprio modelo",
    layers: "camadas",
    readout: "leitura",
    measured: "Medido.",
    computed: "Calculado, não executado.",
    none: "nenhum",
    low: "de",
    high: "até",
    stack: "pilha",
    code: "como se escreve",
  },
  BY_DEPTH: {
    title: "O que cada profundidade já sabe",
    text: (quarter, untrained, trained) =>
      `Medido. Parte dos tokens do próprio modelo que uma leitura nesta profundidade também teria escrito, com temperatura 0. Na camada ${quarter}, um quarto da profundidade, a cabeça do próprio modelo sabe ${percent(untrained)}${trained}. O HiSpec relata até 69 % ali, com modelos treinados para sair cedo.`,
    trained: (share) => `, uma saída treinada ${percent(share)}`,
    axis: "camadas executadas",
    share: "parte dos tokens",
    paper: "HiSpec, no máximo",
    agrees: "concorda",
    hover: "%{fullData.name}<br>camada %{x}: %{y:.0%}<extra></extra>",
  },
  QUARTER: {
    title: "O que um quarto das camadas deixa passar",
    text: (at) =>
      `Medido. Dos tokens que um rascunho propõe, a parte que uma saída treinada na camada ${at} aceita, e desses a parte que a última camada mantém. O que a saída deixa passar por engano é o que o segundo passo do HiSpec ainda precisa apanhar.`,
    drafter: "rascunhado por",
    accepts: (at) => `aceitos na camada ${at}`,
    kept: "desses, mantidos pela última camada",
    hover: "%{y}<br>%{fullData.name}: %{x:.0%}<extra></extra>",
  },
  SWEEP: {
    title: "Cada saída de rascunho sob cada saída superior",
    text: (one, pair) =>
      `Calculado, não executado: pela recursão exata, a partir de passagens e concordâncias medidas de saídas pela cabeça do próprio modelo, cada pilha com os seus melhores comprimentos de bloco. A melhor saída sozinha é a camada ${one.draft}: ${one.gain}\u00d7 a decodificação simples.${pair ? ` As melhores duas são as camadas ${pair.draft} e ${pair.above}: ${pair.gain}\u00d7.` : ""}`,
    x: "saída de rascunho, camadas",
    y: "saída superior, camadas",
    gain: "aceleração",
    blocks: "comprimentos de bloco",
    hover: "rascunho em %{x}, superior %{y}<br>%{text}\u00d7 a decodificação simples<extra></extra>",
  },
  GRID: {
    title: "Saídas de rascunho sob saídas superiores, medidas",
    text: (x) =>
      `Medido em ${x.prompts} prompts, com saídas treinadas nessas camadas. As duas melhores são as camadas ${x.draft} e ${x.above}: ${x.gain}× a decodificação simples. Na figura 5 do HiSpec elas ficam em um oitavo e um quarto das camadas de um modelo treinado para sair cedo.`,
  },
  RUNS: {
    title: "Saídas no relógio",
    text: "Barras: aceleração medida sobre a decodificação simples, com o seu intervalo de 95 %. Losangos: o que a recursão calcula a partir dos custos da máquina e das aceitações das mesmas execuções.",
    axis: "aceleração sobre a decodificação simples",
    measured: "medido",
    computed: "calculado",
    accepted: "aceito, por nível",
    hover: "%{customdata}<br>%{x:.2f}\u00d7<extra></extra>",
  },
  RATIOS: {
    title: "O que uma verificação custa, em tokens rascunhados",
    text: "Medido. O alvo verifica quatro tokens no tempo em que o rascunho escreve este número. Quanto maior, mais um segundo verificador no meio pode poupar. Ao lado, o que o HiSpec relata para modelos grandes.",
    axis: "tokens rascunhados por verificação",
    draft: "rascunho",
    machine: "máquina",
    verify: "verificação, ms",
    drafted: "token rascunhado, ms",
    ratio: "razão",
    paper: "relatado pelo HiSpec",
    hover: "%{customdata}<br>%{x:.1f} tokens rascunhados<extra></extra>",
  },
  NEEDED: {
    plain: "O que duas saídas precisam para vencer a decodificação simples",
    one: "O que duas saídas precisam para vencer uma",
    ideal: "O mesmo onde só as camadas custam",
    plainText: (x) =>
      `Calculado, não executado, a partir dos custos desta máquina. As camadas são ${percent(x.share)} de uma passagem aqui. ${x.from === null ? "Nenhuma aceitação basta." : `Duas saídas ganham quando a última camada aceita ${percent(x.from)} do que a saída superior lhe entrega; hoje aceita ${percent(x.now)}.`} As outras aceitações acompanham.`,
    oneText: (from, paper) =>
      `Calculado, não executado, a partir dos custos desta máquina; cada pilha com os seus melhores comprimentos de bloco. ${from ? `Duas saídas começam a vencer uma quando a última camada aceita ${percent(from.upper)} dos tokens da saída superior, e a saída superior ${percent(from.inner)} dos da saída de rascunho.` : "Duas saídas não vencem uma em lugar nenhum."} ${paper ? "O 1,28 do artigo está ao alcance." : "O 1,28 do artigo está fora do alcance com estes custos."}`,
    idealText: (from) =>
      `Calculado para custos que esta máquina não tem: uma passagem é só as suas camadas, e mais linhas não custam nada; um modelo grande em uma GPU chega perto disso. ${from ? `Chega-se a 1,28 quando a última camada aceita ${percent(from.upper)} e a saída superior ${percent(from.inner)}.` : "Nem assim se chega a 1,28."}`,
    upper: "a última camada aceita dos tokens da saída superior",
    inner: "a saída superior aceita dos da saída de rascunho",
    share: "parte das camadas em uma passagem",
    overPlain: "duas saídas / decodificação simples",
    overOne: "duas saídas / melhor saída sozinha",
    today: (gain, computed) => `medido ${two(gain)}, calculado ${two(computed)}`,
    hover: "%{x:.0%} aceitos acima, %{y:.0%}<br>%{text}\u00d7<extra></extra>",
  },
  CACHE: {
    label: "Camadas que uma saída e o seu alvo calculam, por token",
    last: "último token",
    guess: (n) => `palpite ${n}`,
    layer: (n) => (n === 0 ? "camada 0" : `após ${n}`),
    exit: "saída",
    target: "alvo",
    again: "só para o bônus",
    once: "calculado uma vez, usado por ambos",
    guesses: "palpites",
    at: "camadas da saída",
    bonus: "token bônus",
    saysExit: (at, of, n) =>
      `A saída executou ${at === 1 ? "a primeira" : `as primeiras ${at}`} de ${layers(of)} no último token e em todos os palpites menos o último: ${n === 1 ? "1 vez" : `${n} vezes`}.`,
    says: (x) =>
      `A saída lê ${layers(x.at)} ${x.guesses === 1 ? "1 vez" : `${x.guesses} vezes`}, o alvo ${x.bonus ? `todas as ${x.layers}, pois o bônus precisa também das primeiras` : `as outras ${x.layers - x.at} uma vez`}: ${layers(x.exit + x.target)} para até ${x.most} tokens; a decodificação simples lê ${x.plain} para o mesmo número. ${x.shared} resultados são calculados uma vez e usados por ambos.`,
  },
  LOST: {
    called: "As saídas do HiSpec perdem",
    part: (at, of, share) =>
      `${at === 1 ? "a primeira" : `as primeiras ${at}`}${of ? ` de ${layers(of)}` : at === 1 ? " camada" : " camadas"} ${at === 1 ? "leva" : "levam"} ${share} % de uma passagem`,
  },
};
