/** Was die Bilder der Lektionen sagen. */

import { many } from "../many.js";
import { count, fixed } from "../numbers.js";

const listed = (/** @type {string[]} */ parts) => parts.join(", ");
const percent = (/** @type {number} */ v) => `${Math.round(100 * v)}\u00a0%`;

/** @type {import("../language.js").Translation<typeof import("../en/pictures.js")>} */
export const WORDS = {
  MISSING: {
    label: "Ein Bild, das hier fehlt",
    text: (kind) =>
      `Dieser Schritt hat ein Bild („${kind}“) eines Systems, das hier nicht installiert ist. Der Text daneben gilt auch ohne es.`,
  },
  MOVING: {
    label: (kind) =>
      ({
        text: "Der Text eines aufgezeichneten Laufs",
        round: "Eine Runde eines aufgezeichneten Laufs",
        lanes: "Was jede Stufe wann tat",
        roll: "Die Aufrufe einer aufgezeichneten Runde",
      })[kind] ?? "",
    play: "Abspielen",
    back: "Ein Ereignis zurück",
    on: "Ein Ereignis weiter",
  },
  CHART: {
    passes: "Token, die jeder Durchlauf des Zielmodells übernahm",
    pass: (n, tokens) => `Durchlauf ${n}: ${tokens}`,
    mean: (mean) => `Mittel ${mean}`,
    firstPasses: (first) =>
      `Die ersten Durchläufe übernahmen ${first}; die anderen sind verborgen, bis Sie geantwortet haben.`,
    allPasses: (passes, tokens, mean) =>
      `${passes} Durchläufe übernahmen ${tokens} Token: ${mean} je Durchlauf im Mittel. Eine Säule ist ein Durchlauf.`,
    byRows: "Zeit eines Durchlaufs des Zielmodells, nach seinen Zeilen",
    rows: (n) => many(n, "Zeile", "Zeilen"),
    median: (n) => `Median von ${n}`,
    oneRow: (ms) => `Ein Durchlauf über eine Zeile dauert ${ms}.`,
    someRows: (rows) => `Mediane dieses Laufs: ${listed(rows.map(([n, ms]) => `${ms} für ${n}`))} Zeilen.`,
    costs: "Was ein Token des Texts kostet",
    thisStack: "dieser Stapel",
    plain: "einfaches Dekodieren",
    engine: "die Maschine um die Stufen",
    costsSaid: (parts, rest) =>
      `Zeit für ein Token des Texts, nach Stufen: ${listed(parts.map(([tag, ms]) => `${tag} ${ms}`))}; um sie herum ${rest}.`,
    gains: "Tempo gegenüber einfachem Dekodieren",
    one: "Die Linie bei 1 ist einfaches Dekodieren desselben Zielmodells. Ein Balken ist das 95-%-Intervall über die Prompts.",
    alone: "dieser Lauf allein: kein Intervall",
    interval: (low, high) => `${low} bis ${high}`,
    gainSaid: (x) =>
      x.alone
        ? `${x.stack} war in einem Lauf ${x.text}-mal so schnell wie einfaches Dekodieren.`
        : `${x.stack} ist ${x.text}-mal so schnell wie einfaches Dekodieren (${x.ends[0]} bis ${x.ends[1]}).`,
  },
  YIELDS: {
    label: "Token je Durchlauf und Tempo, nach der Blocklänge",
    a: { label: "Annahmequote a", text: (v) => fixed(v, 2) },
    n: { label: "Vorschläge n", text: (v) => String(v) },
    c: { label: "Kosten eines Vorschlags, in Durchläufen", text: (v) => fixed(v, 2) },
    key: {
      bar: "Aussicht, dass ein Durchlauf so weit kommt",
      tokens: "Token je Durchlauf",
      ceiling: "ihre Grenze, 1 / (1 − a)",
      speed: "Tempo gegenüber einfachem Dekodieren",
    },
    best: (n) => `bestes n: ${n}`,
    open: (a, n) =>
      `Das erste Token eines Durchlaufs ist sicher; jedes weitere kommt mit a = ${a} mal der Aussicht des vorigen, bis n = ${n}. Der Ertrag ist die Summe der Balken.`,
    says: (x) =>
      `Mit a = ${x.a} und n = ${x.n} übernimmt ein Durchlauf ${x.tokens} Token; keine Länge gibt mehr als ${x.ceiling}. Kostet ein Vorschlag ${fixed(x.c, 2)} eines Durchlaufs, ist das ${x.speed}-mal einfaches Dekodieren; ${
        x.best ? `am besten ist n = ${x.best}: ${x.bestSpeed}-mal.` : "keine Länge lohnt sich."
      }`,
  },
  COIN: {
    label: "Verteilungen einer Stelle, und was bei vielen Würfen herauskommt",
    columns: {
      q: { name: "q", tip: "die Verteilung, aus der der Entwurf gezogen wurde" },
      p: { name: "p", tip: "die Verteilung der Stufe, die prüft" },
      both: { name: "behalten", tip: "min(p, q): Entwürfe, die behalten werden" },
      rest: { name: "Rest", tip: "max(p − q, 0), auf Summe 1 gebracht" },
      exact: { name: "exakt", tip: "die Verteilung dessen, was herauskommt, berechnet" },
      out: { name: "geworfen", tip: "der Anteil jedes Tokens an Ihren Würfen" },
    },
    of: (tag, law) => `${law} von ${tag}`,
    once: "Einmal werfen",
    many: (n) => `${count(n)}-mal werfen`,
    again: "Von vorn",
    share: "Abstand des Entwurfs von p",
    wrong: "aus p ersetzen (falsch)",
    open: "Ein Entwurf wird aus q gezogen. Er wird mit Wahrscheinlichkeit min(1, p/q) behalten.",
    says: (x) =>
      `${x.all ? `${count(x.all)} ${x.all === 1 ? "Wurf" : "Würfe"}: ${percent(x.kept)} der Entwürfe wurden behalten (exakt: ${percent(x.share)}); der größte Abstand von p ist ${fixed(x.far, 3)}.` : `${percent(x.share)} der Entwürfe werden behalten. Werfen Sie die Münze, und vergleichen Sie mit p.`}${
        x.wrong ? " Aus p ersetzt, kommt zu oft, was der Entwurf mag, wie oft Sie auch werfen." : ""
      }`,
  },
  ROLL: {
    label: "Wer in dieser Runde wen aufruft",
    ask: (x) => `fragt ${x.below} nach ${x.count} Token`,
    draft: (x) => (x.count ? `bietet ${x.count} Token an` : "findet nichts anzubieten"),
    verify: (x) =>
      `${x.count ? `behält ${x.kept} von ${x.count}` : "bekommt nichts"}${x.own ? `${x.count ? ", " : "; "}schreibt 1 eigenes` : ""}: hält ${x.held}`,
    up: (x) => `reicht ${x.count} hinauf an ${x.above}`,
  },
  HOPS: {
    label: "Der billigste Weg über Stufen und Blocklängen",
    levels: ["Textsuche", "8-Bit-Kopie", "Zielmodell"],
    sliders: {
      lookup: "eine Suche kostet",
      copy: "ein Durchlauf der Kopie kostet",
      "lookup-copy": "Kopie nimmt Suche an",
      "lookup-target": "Zielmodell nimmt Suche an",
      "copy-target": "Zielmodell nimmt Kopie an",
    },
    open: "Ein Kreis ist eine Stufe mit ihrer Blocklänge. Ein Weg von unten zum Zielmodell ist ein Stapel; die Zahlen sind verborgen, bis Sie geantwortet haben.",
    says: (x) =>
      x.path.length > 1
        ? `Der kürzeste Weg ist ${x.path.join(" → ")}: ${x.ms} je Token, ${x.gain}-mal so schnell wie das Zielmodell allein (${x.plain}).`
        : `Das Zielmodell allein ist am schnellsten: ${x.plain} je Token.`,
  },
};
