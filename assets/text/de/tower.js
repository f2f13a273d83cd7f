/** Der Turm: seine Stockwerke, die Schächte dazwischen, die Einstellungen einer Stufe, geteilte Schichten, Verbotenes. */

import { many } from "../many.js";

const rows = (/** @type {number} */ n) => many(n, "Zeile", "Zeilen");

/** @type {import("../language.js").Translation<typeof import("../en/tower.js")>} */
export const WORDS = {
  TOWER: {
    title: "Der Turm",
    picture: "Turm",
    simulated: "simuliert",
    label: "der Turm: die Stufen des Stapels",
    levels: "Stufen, das Zielmodell zuerst",
    readyMade: "fertige Stapel",
    own: "Ihr Stapel",
    undo: "rückgängig",
    undoTip: "nimmt die letzte Änderung des Stapels zurück (Strg+Z)",
    other: "Der gezeigte Lauf verwendete einen anderen Stapel.",
    runThis: "Drücken Sie Erzeugen, um diesen laufen zu lassen.",
    madeUp:
      "Simuliert: kein Modell lief. Wie lange ein Aufruf dauert und wie oft Stufen übereinstimmen, sind Annahmen eines Profils.",
    madeUpOther:
      "Simulierte Stufen; der gezeigte Lauf verwendete einen anderen Stapel davon. Der Planer plant und spielt sie.",
  },
  FLOOR: {
    block: "T: die meisten Token, die diese Stufe hinaufreicht",
    callTip: "ms je Aufruf: Rechenzeit / Durchläufe dieser Stufe in diesem Lauf",
    signs: (note) => `${note} · gibt alles frei`,
    inStack: (name) => `${name} im Stapel`,
    blockOf: (name) => `T, die Blocklänge: ${name}`,
    typed: (name) => `T: ${name}`,
    less: (what) => `${what}: eins weniger`,
    more: (what) => `${what}: eins mehr`,
    move: (name, nth, of) => `${name} verschieben, Stufe ${nth} von ${of}: Pfeil auf oder ab`,
    moveTip: "ziehen, oder mit den Pfeiltasten, um diese Stufe zu verschieben",
    details: (name) => `Regel, Strategie und Reihenfolge: ${name}`,
    up: "hinauf",
    down: "hinunter",
    remove: "entfernen",
    emptyCache: "Cache: noch nichts",
    emptyCacheTip: "Cache dieser Stufe: noch nichts",
    cache: (x) =>
      `Cache dieser Stufe: ${x.known} übernommene, ${x.tentative} vorläufige Positionen; ${x.behind} nachzulesen`,
    tree: (shape, again) => `Baum ${shape}${again ? " mit Zurücklegen" : ""}`,
    dynamic: (most, again) => `Baum mit ≤ ${most}${again ? " mit Zurücklegen" : ""}`,
    upTo: (most) => `dynamisch · bis zu ${most} Token`,
    lookups: "Textsuche",
    undrafted: (n) =>
      `ihr Tokenizer unterscheidet sich in ${many(n, "besonderen Token", "besonderen Token")}, die nie entworfen werden`,
    guesses: (n, letters) => `${n} Vorschläge aus ${letters}`,
    databases: (letters) => `Datenbanken ${letters}`,
    orElse: (databases, draft) => `${databases}, sonst ${draft}`,
  },
  SHAFT: {
    kept: "angenommen",
    tip: "Annahmequote: Token von unten, die diese Stufe annahm / die sie prüfte",
    is: (accepted, judged, offered) =>
      `Annahmequote: ${accepted} angenommen / ${judged} geprüft von den ${offered ? "Stellen mit Kandidaten" : "Token von unten"}, in diesem Lauf`,
  },
  DEPTH: {
    label: (name, layers) => `Tiefe von ${name}: nach wie vielen von ${layers} Schichten sie aussteigt`,
    of: (depth, layers) => `${depth} von ${layers}`,
    said: (depth, layers, how) => `Schicht ${depth} von ${layers}, ${how}`,
    drag: "ziehen: die Schicht, nach der dieser Ausstieg liest",
    dragTrained: (depths) =>
      `ziehen: die Schicht, nach der dieser Ausstieg liest; trainierte Entwürfe gibt es bei ${depths.join(", ")}`,
    at: "bei Schicht",
    slow: (draft) => `${draft}; prüft eine Zeile nach der anderen`,
    whereTrained: "trainierter Entwurf, wo es einen gibt",
    lens: "lens: Norm und Kopf des Modells selbst",
    own: "der eigene der Voreinstellung",
    draftOf: (name) => `Entwurf: ${name}`,
    readTip: "wie aus den verborgenen Zuständen dieser Tiefe Wahrscheinlichkeiten werden",
    draftTip: "welche trainierten Gewichte diese Stufe verwendet",
    read: "lesen",
    draft: "Entwurf",
    noMiss: "nichts: die Stufe darüber macht allein weiter",
    missOf: (name) => `wenn ${name} nichts findet`,
    missTip: "was entwirft, wenn keine Datenbank eine Fortsetzung hat",
    miss: "sonst",
    byDraft: (name) => `Entwurf ${name}`,
    byLens: "lens: der Kopf des Modells selbst",
    trained: "trainierter Entwurf",
    untrained: "untrainiert: der Kopf des Modells selbst",
  },
  PLAN: {
    out: "nicht im Plan",
    block: (block) => `T = ${block} im Plan`,
    top: "im Plan, gibt jedes Token frei",
    is: (round, stack, why) => `Auto, ab Runde ${round}: ${stack}${why ? ` (${why})` : ""}.`,
    left: (round, stack, why) => `Ab Runde ${round}: ${stack} (${why}).`,
    here: (day) => `Profil gemessen auf dem Rechner dieses Laufs${day && ` am ${day}`}.`,
    unknown: "Wo das Profil gemessen wurde, ist nicht aufgezeichnet.",
    elsewhere: (x) => {
      const said = `Profil ${x.given ? "angegeben" : "mitgeliefert"}, gemessen${x.where && ` auf ${x.where}`}${x.day && `, ${x.day}`}`;
      const alike =
        x.where === x.machine
          ? "ein anderer Rechner derselben Beschreibung"
          : `nicht auf dem Rechner dieses Laufs, ${x.machine}`;
      return `${said}: ${alike}, wo Durchläufe mehr oder weniger kosten mögen; python -m hsd_core calibrate ${x.option} misst es.`;
    },
    ofPreset: (preset) => `--preset ${preset}`,
    noProfileOf: (option) =>
      `Es gibt hier kein Profil, um damit zu planen; messen Sie eines: python -m hsd_core calibrate ${option}`,
    auto: (text) => `Auto. ${text}`,
  },
  TRUNK: {
    embeddings: "liest die Token-Einbettungen",
    runs: (layers) => `rechnet ${layers}`,
    runsNone: "rechnet keine eigene Schicht",
    reuses: (own, layers) => `${own}, verwendet ${layers} wieder`,
    exit: (depth, of) => `Ausstieg bei Schicht ${depth} von ${of}`,
    bottom: (of) => `Schicht 0 von ${of}: die Token-Einbettungen`,
    whole: (layers) => `alle ${layers} Schichten`,
    ran: (parts, single) => {
      const words = parts.map((part, i) => {
        const passes = part.passes > 1 ? ` in ${part.passes} Durchläufen` : "";
        return `${part.layers} über ${i ? part.rows : rows(part.rows)}${passes}${part.bonus ? " (Bonus)" : ""}`;
      });
      return `${single ? "Schicht" : "Schichten"} ${words.join(", ")}`;
    },
    passes: (parts) =>
      parts
        .map((part, i) => `${part.layers} in ${i ? part.passes : many(part.passes, "Durchlauf", "Durchläufen")}`)
        .join(", "),
    layers: (n) => `${n} Schichten`,
    label: (n, shares) => `Ein Modell, ${n} Schichten: ${shares}.`,
    rows: (round, said, shares) => `Gerechnete Zeilen je Schicht in Runde ${round}: ${said}. In Ruhe: ${shares}.`,
    on: (n, layers) => `${n} auf ${layers}`,
  },
  STACK: {
    noTarget: (id) => `dieser Server bietet das Zielmodell ${id} nicht an`,
    noLevel: (name) => `es gibt keine Stufe „${name}“ über diesem Modell`,
    unusable: "hier nicht verwendbar",
    cannotDraft: (name) => `${name} kann nicht entwerfen und nur die oberste Stufe sein`,
    noExit: (at, min, max) =>
      `Schicht ${at} ist kein Ausstieg dieses Modells: stellen Sie eine Tiefe von ${min} bis ${max} ein`,
  },
  ADD: {
    none: "es gibt keine weitere Stufe über diesem Modell",
    title: "Stufe hinzufügen",
    more: "Weitere, hier ohne Vorhersage",
    atFirst: (about, block) => `${about} Beginnt mit T = ${block}.`,
    unusable: "hier nicht verwendbar",
    most: (levels) => `ein Stapel hat höchstens ${levels} Stufen`,
    cannotDraft: "kann nicht entwerfen und nur das Dach sein",
    isBottom: "ist schon die unterste Stufe",
  },
  KEY: { label: "Wörter des Turms" },
};
