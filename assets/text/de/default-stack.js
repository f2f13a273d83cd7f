/** Der Standardstapel eines Rechners: warum er es ist, was ihm vorhergesagt wird, und das Messen dafür. */

/** @param {[string, string]|null} ends */
const range = (ends) => (ends ? ` (${ends[0]} bis ${ends[1]})` : "");
const on = (/** @type {string} */ day) => day && `, ${day}`;

/** @type {import("../language.js").Translation<typeof import("../en/default-stack.js")>} */
export const WORDS = {
  DEFAULT_STACK: {
    title: "Der Standardstapel auf diesem Rechner",
    label: "der Standardstapel auf diesem Rechner",
    measured: (day) => `Er ist der schnellste nach den Zeiten aus der Kalibrierung dieses Rechners${on(day)}.`,
    quick: (day) => `Er ist der schnellste nach den Zeiten aus der 20-Sekunden-Kalibrierung dieses Rechners${on(day)}.`,
    shipped: (machine, day) =>
      `Er ist der schnellste nach den Zeiten auf dem ähnlichsten Rechner: ${machine}${on(day)}.`,
    preset: "Seine Blocklängen sind die der Voreinstellung: ein Profil seiner Stufen ist hier nicht bekannt.",
    pinned: "Seine Blocklängen sind die der Voreinstellung, wie es diesem Server gesagt wurde.",
    brief: {
      measured: "Der Standardstapel hier, der schnellste nach der Kalibrierung dieses Rechners",
      quick: "Der Standardstapel hier, der schnellste nach der 20-Sekunden-Kalibrierung dieses Rechners",
      shipped: "Der Standardstapel hier, der schnellste nach dem mitgelieferten Profil des ähnlichsten Rechners",
      preset:
        "Der Standardstapel hier, mit den Blocklängen der Voreinstellung: ein Profil seiner Stufen ist nicht bekannt",
    },
    briefly: (from, more, ends) =>
      more ? `${from}; vorhergesagt ${more}×${range(ends)} gegenüber den besten zwei Stufen.` : `${from}.`,
    alone: (gain) => `Vorhergesagt: ${gain}× gegenüber dem Modell allein.`,
    over: (gain, more, ends) =>
      `Vorhergesagt: ${gain}× gegenüber dem Modell allein und ${more}×${range(ends)} gegenüber den besten zwei Stufen.`,
    overTip:
      "der beste Stapel aus zwei Stufen im ganzen Profil, nach derselben Theorie; die Spanne: jede Annahmequote an einem Ende ihres 95-%-Intervalls",
    go: "Diesen Rechner messen (20 s)",
    again: "Noch einmal messen (20 s)",
    goTip:
      "schickt einige kurze Texte durch die Stufen des Standardstapels, wenn kein anderer Lauf tätig ist, und plant daraus den Stapel; nichts verlässt diesen Rechner",
    stop: "Stopp",
    stopping: "Hält an…",
    asking: "ein Platz in der Warteschlange wird erbeten",
    progress: "gemessener Anteil",
    stoppedEarly: "Angehalten; nichts wurde behalten.",
    unreachable: "Der Server ist nicht erreichbar; es wurde nichts gemessen.",
    found: (stack) => `Gemessen. Der Standardstapel ist von jetzt an ${stack}.`,
    same: (stack) => `Gemessen. Der Standardstapel bleibt ${stack}.`,
    use: "Verwenden",
    way: "Diesen Rechner messen (20 s)",
  },
};
