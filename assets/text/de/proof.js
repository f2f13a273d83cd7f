/** Der Beweis. */

import { figure } from "../numbers.js";

/** @type {import("../language.js").Translation<typeof import("../en/proof.js")>} */
export const WORDS = {
  PROOF: {
    open: "Beweis",
    openTip: "sehen, dass es exakt ist: Token für Token neben einfachem Dekodieren, oder eine Stelle 1.000-mal gezogen",
    title: "Ist es derselbe Text?",
    sampledTitle: "Wird aus derselben Verteilung gezogen?",
    close: "Den Beweis schließen (Esc)",
    simulated: "Dieser Lauf ist simuliert: jede Stufe schreibt dasselbe, also gibt es nichts zu beweisen.",
  },
  LINES: {
    label: "Oben einfaches Dekodieren, unten der Stapel, Token für Token",
    plain: "einfach",
    stack: "Stapel",
    all: (n) => `Alle ${n} Token sind die, die einfaches Dekodieren schrieb.`,
    diverges: (n, of, margin) =>
      `Die ersten ${n} von ${of} Token sind die des einfachen Dekodierens; dann trennen sie sich, wo die zwei besten Logits des Zielmodells ${margin} auseinanderlagen.`,
    shorter: (n) => `Die ersten ${n} Token sind gleich; einer der beiden Texte endet dort.`,
    unknown: "nicht aufgezeichnet",
    why: "Warum das so sein muss: jede Stufe reicht Vorschläge hinauf, und das Zielmodell behält nur die, die seine eigene erste Wahl sind; wo ein Vorschlag das nicht ist, schreibt das Zielmodell seine eigene Wahl.",
    wrong:
      "Das ist kein Beinahe-Gleichstand: die Zeilen dieses Zielmodells ändern sich mit dem, was daneben gerechnet wird, also bewahrte der Stapel hier den Text nicht.",
    tie: "Ein Durchlauf über mehrere Zeilen rundet die letzten Bits vielleicht anders als einer über eine Zeile: wo der Abstand fast 0 ist, kann jedes der beiden Token gewinnen. Die kleinsten Abstände sind markiert.",
    notRecorded: (n) =>
      `Diese ältere Aufzeichnung enthält die ids des einfachen Dekodierens nicht einzeln: sie sagt nur, dass die ersten ${n} übereinstimmen, und die obere Zeile wiederholt diese. Die Abstände stammen aus den Durchläufen des Zielmodells im Stapel.`,
    ids: "Beide Zeilen sind aufgezeichnete ids; die Abstände stammen aus den Zeilen des einfachen Dekodierens.",
    unmeasured:
      "Einfaches Dekodieren lief nicht neben diesem Lauf, also gibt es nichts zu vergleichen. Wählen Sie „einfaches Dekodieren auch messen“ in den Einstellungen und erzeugen Sie noch einmal.",
    itself: "Dieser Lauf ist einfaches Dekodieren.",
    pending: "Einfaches Dekodieren läuft nach dem Stapel; der Vergleich erscheint hier, wenn beides fertig ist.",
    margins: "kleinste Abstände",
    marginTip: "ln(p der ersten Wahl / p der zweiten), in Logits: was es brauchte, um die Wahl zu ändern",
    marked: (at, margin, by) =>
      `Position ${at}: Abstand ${margin} Logits, ${by === "plain" ? "Zeile des einfachen Dekodierens" : "Zeile des Zielmodells in diesem Lauf"}`,
    lossy: (why) =>
      `Dieser Stapel ist nicht exakt: ${why}. Wo er vom einfachen Dekodieren abweicht, liegt es nicht am Runden.`,
  },
  DRAWS: {
    others: "alle anderen",
    label: "Eine Stelle, wieder und wieder gezogen",
    drawn: "hier im Browser gezogen, aus den Zeilen, die der Lauf aufgezeichnet hat",
    again: "1.000-mal ziehen",
    one: "Einmal ziehen",
    clear: "Von vorn",
    position: "Position",
    before: "Position davor",
    after: "nächste Position",
    verifier: "geprüft von",
    norows: "Dieser Lauf enthält keine Wahrscheinlichkeiten, also kann nichts daraus gezogen werden.",
    nothing: "Kein entworfenes Token dieses Laufs wurde mit den Zeilen beider Verteilungen geprüft.",
    intro: (drafter, verifier) =>
      `Entwerfen aus q, der Verteilung von ${drafter}; behalten mit min(1, p / q), sonst aus dem Rest ziehen: p ist die Verteilung von ${verifier}.`,
    named: (drafter, verifier) =>
      `${drafter} nennt ein Token (q liegt ganz darauf); behalten mit Wahrscheinlichkeit p, sonst aus dem Rest ziehen. p ist die Verteilung von ${verifier}.`,
    rules: {
      right: {
        name: "die Regel, Token für Token",
        tip: "entwerfen aus q; behalten mit min(1, p / q); sonst ziehen aus norm(max(p − q, 0))",
      },
      resample: {
        name: "falsch: korrigiert aus p",
        tip: "dasselbe, aber ein verworfener Entwurf wird durch eine Ziehung aus p ersetzt; was der Entwurf hätte sein können, zählt so doppelt",
      },
      looks: {
        name: "falsch: eine Strategie, die hinsieht",
        tip: "sie zieht, bis sie ein Token sieht, das behalten würde, und hört dort auf: Token, die nur p hat, kommen nie heraus",
      },
    },
    fills: (tv) => `strebt gegen eine Verteilung im Abstand ${figure(tv)} von p`,
    exact: "strebt gegen p: Abstand 0",
    off: (tv) => `${tv} von p`,
    offTip:
      "totale Variation: die halbe Summe von |Anteil − p| über alle Symbole; 0: dieselbe Verteilung; 1: nichts gemeinsam",
    chance: (tv, n) => `${n} Ziehungen aus p selbst lägen etwa ${tv} entfernt`,
    chanceTip:
      "die halbe Summe von sqrt(2 p (1 − p) / (π n)): die erwartete totale Variation durch Zufall allein. Die Striche sind ein Standardfehler, sqrt(p (1 − p) / n)",
    kept: (kept, n, share) => `${kept} von ${n} Entwürfen behalten; Summe von min(p, q) = ${figure(share)}`,
    last: (x) =>
      x.kept
        ? `entworfen ${x.drafted}; Münze ${x.coin} < α ${x.alpha}: behalten`
        : `entworfen ${x.drafted}; Münze ${x.coin} ≥ α ${x.alpha}: verworfen; der Rest gibt ${x.out}`,
    close:
      "Verteilungen, wiederhergestellt aus den aufgezeichneten Zeilen, der Temperatur, top-k und top-p des Laufs; sie stimmen mit jedem aufgezeichneten p, q und α überein.",
    estimate: "≈: das Ende dieser Zeile ist nicht aufgezeichnet; diese Verteilungen sind aus ihrem Anfang geschätzt.",
    symbols: "Token jenseits des aufgezeichneten Anfangs einer Zeile sind ein Symbol, „alle anderen“.",
    block:
      "Im Lauf verwendet diese Stufe die Regel block, die ganze Blöcke abwägt; für einen Block aus einem Token, wie hier, ist das dasselbe wie Token für Token.",
    same: "Hier ist q gleich p: kein Entwurf wird verworfen, also stimmt jede Regel.",
    legend: "Balken: gezogener Anteil. Linie: p, mit einem Standardfehler.",
  },
};
