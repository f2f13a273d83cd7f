/** O que a teoria prevê para uma pilha e o que foi medido. */

import { many } from "../many.js";
import { count, fixed, rounded } from "../numbers.js";

const measuredOn = (/** @type {string} */ day, /** @type {string} */ where) => [where, day].filter(Boolean).join(", ");
const on = (/** @type {string} */ machine) => machine && `, ${machine}`;
const at = (/** @type {string} */ predicted, /** @type {number|undefined} */ length) =>
  length ? `${predicted} com ${count(length)} tokens de texto` : predicted;

/** @type {Record<string, string>} */
const SHORT = { reckoned: "calculado", real: "real", simulated: "simulado" };
/** @type {Record<string, string>} */
const HOW = { measured: "medido", ...SHORT };
const capital = (/** @type {string} */ text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @type {Record<string, (predicted: number, measured: number) => string>} */
const CAUSES = {
  pace: (predicted, measured) =>
    `a máquina estava mais ${measured > predicted ? "lenta" : "rápida"}: a decodificação simples levou ${rounded(measured)} ms por token em vez de ${rounded(predicted)}`,
  tokens: (predicted, measured) =>
    `uma passagem do alvo deu ${rounded(measured)} tokens em vez de ${rounded(predicted)}, pois os rascunhos foram aceitos com ${measured > predicted ? "mais" : "menos"} frequência do que no perfil`,
  cost: (predicted, measured) =>
    `uma rodada custou ${rounded(measured)} passagens da decodificação simples em vez de ${rounded(predicted)}`,
};

/** @type {import("../language.js").Translation<typeof import("../en/forecast.js")>} */
export const WORDS = {
  words: {
    predicted: "previsto",
    measured: "medido",
    error: "erro",
    asks: "Teoria: perguntando ao planejador…",
    says: (predicted, where) => `A teoria diz ${predicted}${on(where)}`,
    said: (predicted, measured, where) => `A teoria disse ${predicted}, medido ${measured}${on(where)}`,
    saidElsewhere: (predicted, where, measured, there) =>
      `A teoria diz ${predicted}${on(where)}; medido ${measured}${on(there)}`,
    thisMachine: "esta máquina",
    at,
    paysFrom: (from, first) =>
      first
        ? `Mais rápido que a decodificação simples já com ${count(from)} tokens de texto, o mais curto que foi medido.`
        : `Mais rápido que a decodificação simples a partir de ${count(from)} tokens de texto.`,
    paysNowhere: "Nos textos mais longos, medidos ou extrapolados, isto não é mais rápido que a decodificação simples.",
    extrapolated: (length, first, last) =>
      `${count(length)} tokens são uma extrapolação: ${first === last ? `mediram-se ${count(first)}` : `mediu-se de ${count(first)} a ${count(last)}`}.`,
    saysReckoned: (predicted, where) => `A teoria diz ${predicted}, calculado${on(where)}`,
    saidReckoned: (predicted, found, clock) =>
      clock === "reckoned"
        ? `A teoria disse ${predicted}, a execução deu ${found} (ambos calculados)`
        : `A teoria disse ${predicted}, calculado; a execução deu ${found}, ${SHORT[clock] ?? clock}`,
    reckoned: "calculado",
    reckonedTip:
      "da execução mostrada: cada passagem foi cronometrada sozinha e depois posta em dois relógios: o que se teria com uma segunda máquina deste tipo; contra a decodificação simples na mesma execução",
    otherClock: (clock) =>
      `O relógio da execução é ${SHORT[clock] ?? clock}, o da previsão é calculado, então nenhum erro é dado.`,
    twoClocks: "Para duas máquinas deste tipo, uma só para o alvo.",
    lineTip: "abre a previsão: tempo por token, o erro e o seu motivo, quanto vale cada nível",
    why: (causes) =>
      causes.length
        ? `Ela errou porque ${causes.map((one) => CAUSES[one.what](one.predicted, one.measured)).join(", e ")}.`
        : "",
    caught: (level, wrong, ms, of) =>
      `${level} pegou ${many(wrong, "palpite errado", "palpites errados")} antes que o alvo ${wrong === 1 ? "o" : "os"} visse, a ${ms} ms por chamada; uma chamada do alvo leva ${of} ms.`,
    worth: "Quanto vale cada nível, pela mesma teoria",
    without: (level, speedup) => `Sem ${level}: ${speedup}`,
    title: "O que a teoria prevê para esta pilha e o que foi medido",
    ms: "ms por token",
    times: "aceleração",
    unknown: "–",
    asking: "perguntando ao planejador…",
    none: (reason) => `Sem previsão: ${reason}.`,
    ran: (ms, gain, how = "medido") =>
      `${capital(HOW[how] ?? how)}: ${ms} ms por token${gain && `, ${gain} a decodificação simples`}.`,
    lost: "o servidor não respondeu; mude a pilha para perguntar de novo",
    auto: "Auto muda níveis e comprimentos de bloco enquanto roda",
    madeUp: "estes níveis são simulados; a aba Plano calcula o seu custo",
    faulty: "esta pilha não pode ser executada",
    here: (day) => `Pelo perfil desta máquina${day && `, medido em ${day}`}.`,
    shipped: (where, day) =>
      `Pelo perfil que acompanha o programa, medido em ${measuredOn(day, where) || "outra máquina"}.`,
    elsewhere: "A execução foi medida em outra máquina, então nenhum erro é dado.",
    engine: "A execução e o perfil vêm de motores diferentes (onnxruntime, só torch), então nenhum erro é dado.",
    otherwise: "A amostragem da execução difere da deste perfil, então nenhum erro é dado.",
    off: (share) => {
      const percent = Math.abs(100 * share);
      return `${share > 0 ? "+" : share < 0 ? "\u2212" : ""}${fixed(percent, percent < 9.95 ? 1 : 0)}\u00a0%`;
    },
    errorTip:
      "(previsto \u2212 medido) / medido. Se a máquina está hoje mais lenta do que quando o perfil foi medido, os ms mudam, mas a aceleração quase não",
    predictedTip:
      "ms por token e aceleração esperados em relação à decodificação simples: a recursão exata sobre este perfil, como na aba Plano",
    measuredTip:
      "da execução mostrada: tempo de decodificação / tokens confirmados, sem o prefill; contra a decodificação simples na mesma execução",
    gain: (from, to) => `${fixed(from, 2)}× → ${fixed(to, 2)}× previsto`,
    gainAt: (to, length) => `${at(`${fixed(to, 2)}×`, length)}, previsto`,
    noGain: "sem previsão",
  },
};
