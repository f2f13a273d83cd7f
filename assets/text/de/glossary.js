/** Das Glossar: jedes Fachwort der Seite in zwei Sätzen. */

/** @type {import("../language.js").Translation<typeof import("../en/glossary.js")>} */
export const WORDS = {
  GLOSSARY_SAY: { close: "Die Erklärung schließen", what: (word) => `${word}: was das ist` },
  GLOSSARY: {
    token: {
      word: "Token",
      forms: ["Tokens"],
      says: [
        "Die Einheit, in der ein Modell liest und schreibt: ein Wort, ein Teil davon oder ein Zeichen.",
        "Jedes farbige Stück des Texts ist ein Token.",
      ],
    },
    stack: {
      word: "Stapel",
      forms: ["Stapeln", "Stapels"],
      says: [
        "Stufen nach ihren Kosten geordnet, jede prüft die vor ihr; die letzte ist das Zielmodell.",
        "Die Seite zeichnet ihn als Turm, die billigste Stufe im Erdgeschoss.",
      ],
    },
    level: {
      word: "Stufe",
      forms: ["Stufen"],
      says: [
        "Ein Modell, eine billigere Kopie davon oder eine Suche: sie schlägt Token vor und prüft die von unten.",
        "Eine Stufe in der Mitte hilft, wenn sie falsche Vorschläge in weniger Zeit abfängt, als das Zielmodell brauchte.",
      ],
    },
    target: {
      word: "Zielmodell",
      forms: ["Zielmodelle", "Zielmodells", "Ziel"],
      says: [
        "Das Modell, dessen Text gewünscht ist; es ist die oberste Stufe des Stapels.",
        "In einem exakten Stapel ändern die Stufen darunter das Tempo des Texts, nie seinen Inhalt.",
      ],
    },
    draft: {
      word: "Entwurf",
      forms: ["Entwürfe", "Entwürfen", "entworfen", "entwerfen"],
      says: [
        "Die nächsten Token billig raten, bevor eine größere Stufe sie gesehen hat; auch diese Vorschläge selbst.",
        "In einem exakten Stapel kostet ein falscher Entwurf Zeit, nie einen falschen Text.",
      ],
    },
    verify: {
      word: "prüfen",
      forms: ["prüft", "geprüft", "Prüfung"],
      says: [
        "Entworfene Token in einem Durchlauf ansehen, der sie alle auf einmal liest.",
        "Die prüfende Stufe behält sie bis zum ersten, das sie verwirft.",
      ],
    },
    pass: {
      word: "Durchlauf",
      forms: ["Durchläufe", "Durchläufen", "Durchlaufs"],
      says: [
        "Eine Rechnung eines Modells über einige Token, die einmal alle seine Gewichte liest.",
        "Dieses Lesen braucht die meiste Zeit; fünf Token zu prüfen kostet also kaum mehr, als eines zu schreiben.",
      ],
    },
    accept: {
      word: "annehmen",
      forms: ["nimmt an", "angenommen", "Annahme", "Annahmequote"],
      says: [
        "Eine Stufe nimmt ein entworfenes Token an, das sie auch geschrieben hätte; bei gezogenem Text entscheidet eine Münze mit Gewicht p/q.",
        "Das Token steigt dann eine Stufe höher; ein Punkt darüber steht für jede Stufe, die es vor dem Zielmodell annahm.",
      ],
    },
    reject: {
      word: "verwerfen",
      forms: ["verwirft", "verworfen", "verworfener", "Verwerfung"],
      says: [
        "Eine Stufe verwirft ein entworfenes Token, das sie nicht geschrieben hätte, und mit ihm alles dahinter.",
        "Verworfene Entwürfe bleiben durchgestrichen im Text, mit dem Buchstaben der Stufe, die sie abfing.",
      ],
    },
    correction: {
      word: "Korrektur",
      forms: ["Korrekturen"],
      says: [
        "Das Token, das eine prüfende Stufe an die Stelle des verworfenen schreibt.",
        "Es kostet keinen weiteren Durchlauf: der, der den Fehler fand, hat es schon berechnet.",
      ],
    },
    bonus: {
      word: "Bonus",
      forms: ["Bonus-Token"],
      says: [
        "Das Token, das eine prüfende Stufe hinzufügt, wenn sie alles angenommen hat.",
        "Ihr Durchlauf hat ohnehin berechnet, was nach dem letzten Entwurf kommt.",
      ],
    },
    round: {
      word: "Runde",
      forms: ["Runden"],
      says: [
        "Eine Prüfung durch das Zielmodell und alle Arbeit, die zu ihr führte.",
        "Sie bringt dem Text mindestens ein Token: eine Korrektur oder einen Bonus.",
      ],
    },
    row: {
      word: "Zeile",
      forms: ["Zeilen"],
      says: [
        "Eine Eingabe eines Durchlaufs und was dahinter abgelesen wird: eine Verteilung über das nächste Token.",
        "Vier Entwürfe zu prüfen braucht fünf Zeilen: eine hinter jedem und eine vor dem ersten.",
      ],
    },
    distribution: {
      word: "Verteilung",
      forms: ["Verteilungen"],
      says: [
        "Wahrscheinlichkeiten für jedes Token, das als Nächstes kommen könnte; zusammen sind sie 1.",
        "q ist die Verteilung der Stufe, die entwarf, p die der Stufe, die prüft.",
      ],
    },
    temperature: {
      word: "Temperatur",
      says: [
        "Wie viel Zufall in der Wahl eines Tokens liegt: bei 0 wird immer das wahrscheinlichste genommen (greedy).",
        "Bei 1 wird aus der Verteilung des Modells selbst gezogen; je niedriger, desto mehr gewinnen die wahrscheinlichen.",
      ],
    },
    exact: {
      word: "exakt",
      says: [
        "Der Text ist, was das Zielmodell allein geschrieben hätte: dieselben Token bei greedy, dieselbe Verteilung beim Ziehen.",
        "So ist es, weil jeder Entwurf die Freigabe des Zielmodells braucht; „Beweis“ zeigt es für diesen Lauf.",
      ],
    },
    lossy: {
      word: "verlustbehaftet",
      says: [
        "Mit dieser Regel darf eine Stufe Entwürfe behalten, die das Zielmodell allein nicht geschrieben hätte.",
        "Das kann schneller sein, aber der Text kann abweichen; die Seite sagt es überall, wo sie so einen Stapel zeigt.",
      ],
    },
    speedup: {
      word: "Beschleunigung",
      forms: ["Beschleunigungen"],
      says: [
        "Token je Sekunde gegenüber denen des Zielmodells allein, mit demselben Prompt auf demselben Rechner.",
        "Unter 1× verliert der Stapel: zu wenige Entwürfe werden angenommen, oder sie kosten mehr, als sie sparen.",
      ],
      see: ["?recording=08-loses", "Ein Lauf, der verliert"],
    },
    block: {
      word: "Blocklänge",
      forms: ["Blocklängen"],
      says: [
        "Die meisten Token, die eine Stufe auf einmal hinaufreicht: T auf ihrem Stockwerk.",
        "Ein längerer Block spart Durchläufe, solange seine Entwürfe angenommen werden; was hinter dem ersten falschen steht, ist verschwendet.",
      ],
    },
    policy: {
      word: "Stoppstrategie",
      forms: ["Stoppstrategien"],
      says: [
        "Entscheidet, wann eine Stufe hinaufreicht, bevor ihr Block voll ist, etwa wo ihre Entwürfe unsicher werden.",
        "Sie spart Arbeit, die wohl vergebens wäre.",
      ],
    },
    waste: {
      word: "vergebens",
      forms: ["verschwendet"],
      says: [
        "Entworfene Token, die nie in den Text kommen: verworfen oder hinter einem verworfenen verloren.",
        "Die Zeit dafür ist in jeder Beschleunigung enthalten, die hier steht.",
      ],
    },
    cache: {
      word: "KV-Cache",
      forms: ["KV-Caches"],
      says: [
        "Schlüssel und Werte, die ein Modell von gelesenen Token behält, damit kein Durchlauf sie noch einmal liest.",
        "Auf einem Stockwerk ist sein Balken für Token des Texts gefüllt und für Entwürfe schraffiert, die vielleicht wieder wegfallen.",
      ],
    },
    prefill: {
      word: "Lesen des Prompts",
      forms: ["Prefill"],
      says: [
        "Der Durchlauf, in dem eine Stufe den Prompt liest, bevor das erste Token geschrieben ist.",
        "Er steht auf der Uhr und zählt nicht zur Beschleunigung.",
      ],
    },
    exit: {
      word: "früher Ausstieg",
      forms: ["frühe Ausstiege"],
      says: [
        "Eine Stufe, die nur die ersten Schichten des Zielmodells rechnet und dort das nächste Token abliest.",
        "Sie teilt die Gewichte des Zielmodells, und dieses rechnet von dort weiter.",
      ],
    },
    lookup: {
      word: "Textsuche",
      forms: ["Suche"],
      says: [
        "Eine Stufe ohne Modell: sie sucht, wo die letzten Token schon einmal standen, und kopiert, was dort folgte.",
        "Sie kostet fast nichts und hat oft recht, wo ein Text sich wiederholt.",
      ],
    },
    copy: {
      word: "quantisierte Kopie",
      forms: ["8-Bit-Kopie", "4-Bit-Kopie", "quantisierte Kopien"],
      says: [
        "Dasselbe Modell mit Gewichten, die auf 8 oder 4 Bit gerundet sind.",
        "Ein Durchlauf liest weniger Speicher, und die meisten Token sind die des Originals.",
      ],
    },
    model: {
      word: "Draft-Modell",
      forms: ["Draft-Modelle"],
      says: [
        "Ein kleineres Modell, das auf ähnlichem Text trainiert wurde und für das größere rät.",
        "Es muss dieselben Token verwenden wie das Zielmodell.",
      ],
    },
    tree: {
      word: "Baum",
      forms: ["Bäume"],
      says: [
        "Was eine Stufe der nächsten übergibt: Token, jedes hinter seinem Vorgänger.",
        "Wo sich nichts verzweigt, ist es eine Kette, der einfache Fall.",
      ],
    },
    candidate: {
      word: "Kandidat",
      forms: ["Kandidaten"],
      says: [
        "Eines von mehreren Token, die für dieselbe Stelle angeboten werden.",
        "Ein Durchlauf prüft sie alle, und höchstens eines bleibt.",
      ],
    },
    rule: {
      word: "Regel",
      forms: ["Regeln"],
      says: [
        "Entscheidet, welche der entworfenen Token eine Stufe behält.",
        "Exakte Regeln bewahren die Verteilung des Zielmodells; die anderen sind als verlustbehaftet markiert.",
      ],
    },
    plan: {
      word: "Plan",
      forms: ["Pläne"],
      says: [
        "Welche Stufen laufen, und mit welchen Blocklängen.",
        "Auto macht zwischen den Runden einen neuen, aus gemessenen Kosten und dem, was bisher angenommen wurde.",
      ],
    },
    probe: {
      word: "Sonde",
      forms: ["Sonden"],
      says: [
        "Eine Zeile eines Durchlaufs neben den Entwürfen, die niemand prüft.",
        "Was dort abgelesen wird, geht an die Stufe zurück, die entwirft (Lookahead).",
      ],
    },
    context: {
      word: "Kontext",
      says: [
        "Was ein Modell liest, bevor es schreibt: der Prompt und der bisherige Text.",
        "Entwürfe gehören nur dazu, solange sie auf ihr Urteil warten.",
      ],
    },
    reckoned: {
      word: "berechnet",
      forms: ["berechnete Uhr"],
      says: [
        "Jeder Durchlauf lief allein und wurde einzeln gemessen, dann auf die Uhr seiner Bahn gelegt, als wäre jede Bahn ein eigener Rechner.",
        "Token, Zeilen und die Zeit jedes Durchlaufs sind echt; nur dass Durchläufe überlappen, ist gerechnet.",
      ],
      see: ["?recording=28-copy-pearl", "Ein Lauf auf zwei Uhren"],
    },
  },
};
