/** A abertura. */

import { many } from "../many.js";
import { duration } from "../numbers.js";

const COUNTS = ["nenhuma", "uma", "duas", "três", "quatro", "cinco", "seis", "sete", "oito", "nove", "dez"];
const count = (/** @type {number} */ n) => COUNTS[n] ?? String(n);
const words = (/** @type {number} */ n) => `${count(n)} ${n === 1 ? "palavra" : "palavras"}`;
const capital = (/** @type {string} */ text) => text.charAt(0).toUpperCase() + text.slice(1);
const quoted = (/** @type {string} */ text) => `“${text}”`;
const all = (/** @type {number} */ n) => (n === 1 ? "a única palavra" : `as ${count(n)}`);

/** @type {import("../language.js").Translation<typeof import("../en/story.js")>} */
export const WORDS = {
  STORY: {
    name: "A ideia em meio minuto",
    scenes: ["Uma rodada", "O modelo sozinho", "A resposta inteira"],
    scene: (nth, name) => `Cena ${nth}: ${name}`,
    back: "Voltar",
    pause: "Pausar",
    on: "Continuar",
    next: "Avançar",
    again: "Ver de novo",
    explore: "Explorar",
    exploreTip: "ir para a página: seu próprio prompt, cada rodada em detalhe",
    keys: "Espaço ou → avança, ← volta, Esc abre Explorar",
    swipe: "Deslize para avançar",
    link: "A ideia",
    linkTip: "uma rodada, animada, em meio minuto",
    pass: (time) => `uma passagem, ${time}`,
    around: (ns) => `com ${duration(ns)} entre as passagens`,
    together: "Com os níveis pequenos",
    alone: "O modelo sozinho",
    target: "o modelo",
    gain: "a velocidade do modelo sozinho",
    where: (machine) => `um prompt${machine ? `, ${machine}` : ""}`,
    against: (now, plain) => `${now} contra ${plain} tokens/s`,
    recorded: (device, machine, day) =>
      `Gravado em ${device}: ${[machine, day].filter(Boolean).join(", ")}. Todos os números foram medidos.`,
  },
  TOLD: {
    begins: "Um modelo de linguagem escreve uma palavra depois da outra. Modelos pequenos podem adivinhar as próximas.",
    drafts: (who, n, time) => `O nível mais barato, ${who}, adivinha ${words(n)} em ${time}.`,
    rises: (who, n, time) =>
      n === 1
        ? `Ela sobe para o próximo nível: ${who} lê a palavra em uma passagem, ${time}.`
        : `Elas sobem para o próximo nível: ${who} lê todas as ${count(n)} em uma só passagem, ${time}.`,
    arrives: (n, time) =>
      n === 1
        ? `A palavra sobe até o modelo, o alvo: ele a lê em uma passagem, ${time}.`
        : `As ${count(n)} sobem até o modelo, o alvo: ele lê todas em uma só passagem, ${time}.`,
    strikes: (kept, struck) =>
      kept
        ? `Ele mantém ${kept === 1 ? "a palavra" : `as ${count(kept)}`} que teria escrito e risca ${quoted(struck)}.`
        : `Ele teria escrito outra coisa e risca ${quoted(struck)}.`,
    corrects: (own) => `No lugar, ele escreve a sua própria palavra, ${quoted(own)}.`,
    keeps: (kept) => `Ele mantém ${all(kept)}.`,
    adds: (kept, own) => `Ele mantém ${all(kept)} e acrescenta ${quoted(own)}: ${words(kept + 1)} por uma passagem.`,
    commits: (n, same) =>
      n === 1
        ? `A palavra entra no texto${same ? " e é exatamente a que o modelo escreve sozinho" : ""}.`
        : `As ${words(n)} entram no texto${same ? " e são exatamente as que o modelo escreve sozinho" : ""}.`,
    alone: (n) =>
      n === 1 ? "Agora a mesma palavra sem nenhuma ajuda." : `Agora as mesmas ${words(n)} sem nenhuma ajuda.`,
    one: "Cada palavra custa uma passagem inteira.",
    both: (n, plain, time) =>
      `${capital(count(n))} ${n === 1 ? "passagem" : "passagens"}, ${plain}. Com os níveis pequenos foram ${time}.`,
    runs: "E a resposta inteira, no tempo que foi medido.",
    ends: (gain, tokens, same) =>
      `${gain} vezes a velocidade${same ? ` e o mesmo texto: ${many(tokens, "token coincide", "tokens coincidem")}` : ""}.`,
  },
};
