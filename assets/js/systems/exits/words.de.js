/** Frühe Ausstiege unter Ergebnisse: die Sätze ihrer Studien, und das Bild einer Lektion. */

import { ratio } from "../../../text/numbers.js";

const percent = (/** @type {number} */ share) => `${Math.round(100 * share)} %`;

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  EXITS: {
    title: "Frühe Ausstiege",
    about: "was jede Tiefe weiß, welche Ausstiege sich lohnen würden und was dazu nötig wäre",
    lead: (preset, x) =>
      `${preset} entwirft für sich selbst, wie in HiSpec: was seine ersten Schichten schon wissen, welche Stapel von Ausstiegen sich lohnen würden und was dazu nötig wäre. ${x.texts} Texte aus ${x.prompts}, ${x.tokens} Token, ${x.machine}, ${x.day}.`,
    unreachable:
      "Der Server konnte die Studie der frühen Ausstiege nicht senden; öffnen Sie diesen Reiter noch einmal.",
    command: "Befehl",
    lens: "der Kopf des Modells selbst",
    layers: "Schichten",
    readout: "Kopf",
    measured: "Gemessen.",
    computed: "Berechnet, nicht gelaufen.",
    none: "keiner",
    low: "von",
    high: "bis",
    stack: "Stapel",
    code: "geschrieben",
  },
  BY_DEPTH: {
    title: "Was jede Tiefe schon weiß",
    text: (quarter, untrained, trained) =>
      `Gemessen. Anteil der eigenen Token des Modells, die ein Kopf in dieser Tiefe auch geschrieben hätte, bei Temperatur 0. An Schicht ${quarter}, einem Viertel der Tiefe, weiß der Kopf des Modells selbst ${percent(untrained)}${trained}. HiSpec berichtet dort bis zu 69 %, mit Modellen, die für Ausstiege trainiert wurden.`,
    trained: (share) => `, ein trainierter Ausstieg ${percent(share)}`,
    axis: "gelaufene Schichten",
    share: "Anteil der Token",
    paper: "HiSpec, bestenfalls",
    agrees: "stimmt überein",
    hover: "%{fullData.name}<br>Schicht %{x}: %{y:.0%}<extra></extra>",
  },
  QUARTER: {
    title: "Was ein Viertel der Schichten durchlässt",
    text: (at) =>
      `Gemessen. Von den Token, die ein Entwurf vorschlägt, der Anteil, den ein trainierter Ausstieg an Schicht ${at} annimmt, und davon der Anteil, den die letzte Schicht behält. Was der Ausstieg zu Unrecht durchlässt, muss der zweite Schritt von HiSpec noch abfangen.`,
    drafter: "entworfen von",
    accepts: (at) => `angenommen an Schicht ${at}`,
    kept: "davon von der letzten Schicht behalten",
    hover: "%{y}<br>%{fullData.name}: %{x:.0%}<extra></extra>",
  },
  SWEEP: {
    title: "Jeder entwerfende Ausstieg unter jedem oberen",
    text: (one, pair) =>
      `Berechnet, nicht gelaufen: mit der exakten Rekursion, aus gemessenen Durchläufen und Übereinstimmungen von Ausstiegen mit dem Kopf des Modells selbst, jeder Stapel mit seinen besten Blocklängen. Der beste einzelne Ausstieg ist Schicht ${one.draft}: ${one.gain}× einfaches Dekodieren.${pair ? ` Die besten zwei sind die Schichten ${pair.draft} und ${pair.above}: ${pair.gain}×.` : ""}`,
    x: "entwerfender Ausstieg, Schichten",
    y: "oberer Ausstieg, Schichten",
    gain: "Beschleunigung",
    blocks: "Blocklängen",
    hover: "Entwurf bei %{x}, oben %{y}<br>%{text}× einfaches Dekodieren<extra></extra>",
  },
  GRID: {
    title: "Entwurfsausstiege unter oberen Ausstiegen, gemessen",
    text: (x) =>
      `Gemessen an ${x.prompts} Prompts, mit Ausstiegen, die an diesen Schichten trainiert wurden. Die besten zwei sind die Schichten ${x.draft} und ${x.above}: ${x.gain}× einfaches Dekodieren. In HiSpecs Abbildung 5 liegen sie bei einem Achtel und einem Viertel der Schichten eines Modells, das für Ausstiege trainiert wurde.`,
  },
  RUNS: {
    title: "Ausstiege auf der Uhr",
    text: "Balken: gemessene Beschleunigung gegenüber einfachem Dekodieren mit ihrem 95-%-Intervall. Rauten: was die Rekursion aus den Kosten des Rechners und den Annahmequoten derselben Läufe berechnet.",
    axis: "Beschleunigung gegenüber einfachem Dekodieren",
    measured: "gemessen",
    computed: "berechnet",
    accepted: "angenommen, nach Stufe",
    hover: "%{customdata}<br>%{x:.2f}×<extra></extra>",
  },
  RATIOS: {
    title: "Was eine Prüfung kostet, in entworfenen Token",
    text: "Gemessen. Das Zielmodell prüft vier Token in der Zeit, in der der Entwurf so viele schreibt. Je mehr, desto mehr kann eine zweite Prüfung dazwischen sparen. Daneben, was HiSpec für große Modelle berichtet.",
    axis: "entworfene Token je Prüfung",
    draft: "Entwurf",
    machine: "Rechner",
    verify: "Prüfung, ms",
    drafted: "entworfenes Token, ms",
    ratio: "Verhältnis",
    paper: "von HiSpec berichtet",
    hover: "%{customdata}<br>%{x:.1f} entworfene Token<extra></extra>",
  },
  NEEDED: {
    plain: "Was zwei Ausstiege brauchen, um einfaches Dekodieren zu schlagen",
    one: "Was zwei Ausstiege brauchen, um einen zu schlagen",
    ideal: "Dasselbe, wo nur Schichten etwas kosten",
    plainText: (x) =>
      `Berechnet, nicht gelaufen, aus den Kosten dieses Rechners. Schichten sind hier ${percent(x.share)} eines Durchlaufs. ${x.from === null ? "Keine Annahmequote reicht." : `Zwei Ausstiege gewinnen, sobald die letzte Schicht ${percent(x.from)} von dem annimmt, was der obere Ausstieg hinaufreicht; heute nimmt sie ${percent(x.now)} an.`} Die anderen Annahmequoten gehen mit.`,
    oneText: (from, paper) =>
      `Berechnet, nicht gelaufen, aus den Kosten dieses Rechners; jeder Stapel mit seinen besten Blocklängen. ${from ? `Zwei Ausstiege beginnen einen zu schlagen, wo die letzte Schicht ${percent(from.upper)} der Token des oberen Ausstiegs annimmt und der obere ${percent(from.inner)} der Token des entwerfenden.` : "Zwei Ausstiege schlagen nirgends einen."} ${paper ? "Die 1,28 des Aufsatzes sind erreichbar." : "Die 1,28 des Aufsatzes sind bei diesen Kosten nicht erreichbar."}`,
    idealText: (from) =>
      `Berechnet für Kosten, die dieser Rechner nicht hat: ein Durchlauf ist allein seine Schichten, und mehr Zeilen kosten nichts; ein großes Modell auf einer GPU kommt dem nahe. ${from ? `1,28 wird erreicht, wo die letzte Schicht ${percent(from.upper)} annimmt und der obere Ausstieg ${percent(from.inner)}.` : "Auch so wird 1,28 nicht erreicht."}`,
    upper: "letzte Schicht nimmt von Token des oberen Ausstiegs an",
    inner: "oberer Ausstieg nimmt von denen des entwerfenden an",
    share: "Anteil der Schichten an einem Durchlauf",
    overPlain: "zwei Ausstiege / einfaches Dekodieren",
    overOne: "zwei Ausstiege / bester einzelner",
    today: (gain, computed) => `gemessen ${ratio(gain)}, berechnet ${ratio(computed)}`,
    hover: "%{x:.0%} oben angenommen, %{y:.0%}<br>%{text}×<extra></extra>",
  },
  CACHE: {
    label: "Schichten, die ein Ausstieg und sein Zielmodell rechnen, nach Token",
    last: "letztes Token",
    guess: (n) => `Vorschlag ${n}`,
    layer: (n) => (n === 0 ? "Schicht 0" : `nach ${n}`),
    exit: "Ausstieg",
    target: "Zielmodell",
    again: "nur für den Bonus",
    once: "einmal gerechnet, von beiden genutzt",
    guesses: "Vorschläge",
    at: "Schichten des Ausstiegs",
    bonus: "Bonus-Token",
    saysExit: (at, layers, n) =>
      `Der Ausstieg ließ die ersten ${at} von ${layers} Schichten über das letzte Token und alle Vorschläge außer dem letzten laufen: ${n}-mal.`,
    says: (x) =>
      `Der Ausstieg liest ${x.at} Schichten ${x.guesses}-mal, das Zielmodell ${x.bonus ? `alle ${x.layers}, denn der Bonus braucht auch die ersten` : `die anderen ${x.layers - x.at} einmal`}: ${x.exit + x.target} Schichten für bis zu ${x.most} Token; einfaches Dekodieren liest ${x.plain} für ebenso viele. ${x.shared} Ergebnisse werden einmal gerechnet und von beiden genutzt.`,
  },
  LOST: {
    called: "Die Ausstiege von HiSpec verlieren",
    part: (at, of, share) => `die ersten ${at}${of ? ` von ${of}` : ""} Schichten brauchen ${share} % eines Durchlaufs`,
    why: (parts) => `${parts[0].toUpperCase()}${parts.slice(1)}.`,
  },
};
