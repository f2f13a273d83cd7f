/** Skalengesetze der Annahmequote, unter Ergebnisse. */

import { count, fixed } from "../../../text/numbers.js";

const percent = (/** @type {number} */ share, digits = 0) => `${fixed(100 * share, digits)} %`;
const signed = (/** @type {number} */ value, digits = 3) => `${value < 0 ? "−" : "+"}${fixed(Math.abs(value), digits)}`;
const large = (/** @type {number} */ n) =>
  n < 1e6 ? `${count(Math.round(n / 1000))} Tausend` : `${fixed(n / 1e6, 1)} Millionen`;
const layers = (/** @type {number} */ n) => `${n} ${n === 1 ? "Schicht" : "Schichten"}`;

/** @type {Record<string, string>} */
const TEXTS = { held_out: "zurückgehaltene Prompts derselben Quellen", other: "Texte, die kein Training las" };
/** @type {Record<string, string>} */
const BY = { held_out: "zurückgehaltenen Prompts derselben Quellen", other: "Texten, die kein Training las" };

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  SCALING: {
    title: "Was Training bringt",
    about: "Annahmequote nach Token des Trainings und nach Größe; was eine weitere Stunde hinzufügen würde",
    lead: (preset, x, { texts }) =>
      `Der Entwurf ${x.draft.name}${x.draft.fed ? "-fed" : ""} von ${preset}, von Grund auf trainiert mit ineinander liegenden Teilen von bis zu ${count(x.tokens)} Token, die sein Zielmodell schrieb, jeder ${x.epochs === 1 ? "einmal" : `${x.epochs}-mal`} gelesen, mit einem Seed und denselben Hyperparametern; dann in anderen Größen. Nach Scylla (arXiv 2505.07858). Beurteilt an ${Object.entries(
        texts,
      )
        .map(([name, n]) => `${n} ${BY[name]}`)
        .join(" und ")}; ${x.machine}, ${x.day}.`,
    unreachable: "Der Server konnte die Reihe der Trainings nicht senden; öffnen Sie diesen Reiter noch einmal.",
    command: "Befehl",
    texts: TEXTS,
    gates: { gate: "mit Kopieren", own: "ohne Kopieren" },
    between: (low, high) => `${low} bis ${high}`,
    low: "von",
    high: "bis",
  },
  OVER_TOKENS: {
    rate: {
      title: (texts) => `Annahmequote nach Token des Trainings: ${texts}`,
      text: "Gemessen. Anteil der geprüften Token, die angenommen werden, in Runden von vier entworfenen Token entlang dem, was das Zielmodell greedy schreibt.",
      axis: "Annahmequote",
      hover: "%{fullData.name}<br>%{x:,} Token: %{y:.1%} (%{customdata})<extra></extra>",
      value: (value) => percent(value, 1),
      step: (value) => signed(100 * value, 1),
      unit: " Punkte",
    },
    passes: {
      title: (texts) => `Token je Durchlauf des Zielmodells nach Token des Trainings: ${texts}`,
      text: "Gemessen in denselben Runden. Scylla nennt diese Zahl die Annahmequote: wie viele Token ein Durchlauf des Zielmodells ergibt.",
      axis: "Token je Durchlauf",
      hover: "%{fullData.name}<br>%{x:,} Token: %{y:.2f} je Durchlauf (%{customdata})<extra></extra>",
      value: (value) => fixed(value, 3),
      step: (value) => signed(value, 3),
      unit: "",
    },
    told: (law, said) =>
      `${said.step(law.slope[0])}${said.unit} (${said.step(law.slope[1])} bis ${said.step(law.slope[2])}); das größte: vorausgesagt ${said.value(law.predicted[0])}, gemessen ${said.value(law.measured[0])}`,
    text: (gate, own) =>
      `Was eine Verdopplung der Daten brachte, mit Kopieren: ${gate}. Ohne: ${own}. Die Linie ist ohne das größte Training angepasst (Ring: was sie dort sagt); gepunktet: alle Trainings, bis höchstens viermal so viele Token.`,
    few: "Zu wenige Trainings für eine Linie, die sich prüfen ließe.",
    axis: "Token des Trainings",
    copies: "Kopieren",
    line: (name) => `Linie, ${name}`,
    predicted: (name) => `vorausgesagt, ${name}`,
    ahead: (name) => `Linie aller Trainings, ${name}`,
    lineThere: "Linie",
    off: "über der Linie",
  },
  SIZES: {
    title: "Annahmequote nach Größe",
    text: (tokens, texts) =>
      `Gemessen. Entwürfe mit einer und zwei eigenen Schichten, mit gekürzten Köpfen verschiedener Größe, jeder mit denselben ${count(tokens)} Token trainiert. Beurteilt: ${texts}. Ein entworfenes Token liest jedes dieser Gewichte, bei 8 Bit ein Byte je Gewicht.`,
    size: (own, rows) => `${layers(own)}, ${count(rows)} Zeilen`,
    axis: "eigene Schichten, Zeilen des Kopfs, gelesene Gewichte je entworfenes Token",
    tick: (own, rows, millions) => `${layers(own)}<br>${count(rows)} Zeilen<br>${fixed(millions, 1)} M`,
    weights: "Millionen gelesene Gewichte je entworfenes Token",
    rate: "Annahmequote",
    draft: "Entwurf",
    share: "Anteil am Zielmodell",
    seconds: "Kernsekunden des Trainings",
    copies: "Kopieren",
    hover: "%{fullData.name}<br>%{text}: %{y:.1%} (%{customdata})<extra></extra>",
  },
  HOUR: {
    title: "Was eine weitere Stunde Training brächte",
    text: (x, texts) =>
      `Vorausgesagt, nicht gelaufen. Eine Stunde eines Kerns liest ${large(x.per_hour)} Token. ${
        x.hours < 0.995
          ? `Der Linie wird bis höchstens viermal so vielen Token gefolgt, ${large(x.tokens)}, was ${Math.round(60 * x.hours)} Minuten dauert`
          : `Mit ihnen hat der Entwurf ${large(x.tokens)} gelernt`
      }: Annahmequote ${percent(x.acceptance.now[0], 1)} gemessen, ${percent(x.acceptance.then[0], 1)} vorausgesagt (${percent(x.acceptance.then[1], 1)} bis ${percent(x.acceptance.then[2], 1)}), ${texts}. Token/s: die Rekursion des Planers mit den Kosten aus dem Profil dieses Rechners, die Blocklängen neu gewählt.`,
    after: (tokens) => `vorausgesagt nach ${large(tokens)} Token`,
    axis: "vorausgesagte Token/s",
    plain: "einfaches Dekodieren",
    plainHover: "%{fullData.name}: %{y:.1f} Token/s<extra></extra>",
    stack: "Stapel",
    learned: "Token des Trainings",
    hover: "%{x}<br>%{fullData.name}: %{y:.1f} Token/s (%{customdata})<extra></extra>",
  },
  LOAD: {
    title: "Mit mehr Anfragen zugleich",
    text: (measured) =>
      `Vorausgesagt, nicht gelaufen: Scyllas Achse der Anfragen. Nur der Entwurf, gegen einfaches Dekodieren von ebenso vielen Anfragen zugleich, nach der Rekursion des Planers bei der besten Blocklänge. Anfragen teilen sich jeden Durchlauf, also kostet jedes entworfene Token mehr, und weniger lohnen sich. ${measured ? "Die gemeinsamen Durchläufe des Zielmodells wurden gemessen." : "Wo die gemeinsamen Durchläufe des Zielmodells nicht gemessen wurden, kostet einer so viel wie ein Durchlauf von ebenso vielen Zeilen."}`,
    after: (tokens) => `nach ${large(tokens)} Token`,
    axis: "Anfragen zugleich",
    gain: "Beschleunigung",
    learned: "Token des Trainings",
    block: "Blocklänge T",
    hover: "%{fullData.name}<br>%{x} zugleich: %{y:.2f}-mal einfaches Dekodieren, T = %{customdata}<extra></extra>",
  },
};
