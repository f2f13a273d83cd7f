/** Das Rennen. */

import { many } from "../many.js";
import { count, duration, fixed, precise, rounded } from "../numbers.js";

/** @type {import("../language.js").Translation<typeof import("../en/race.js")>} */
export const WORDS = {
  WORDS: {
    title: "Rennen",
    lead: "Stapel beantworten einen Prompt auf einem Rechner, der Reihe nach je eine Runde, jeder auf eigener Uhr. Das Rennen beginnt, wenn der Prompt gelesen ist.",
    choose: "Rennen zum Abspielen",
    own: "Ihr eigenes",
    openFile: "eine Datei eines Rennens öffnen",
    save: "dieses Rennen als Datei speichern",
    setUp: "Eigene Stapel rennen lassen",
    close: "Schließen",
    dropHint: "Lassen Sie die Datei des Rennens hier los",
    finish: "Ziel",
    lanes: "die Bahnen, auf einer Uhr",
    texts: "die Texte; ein gewähltes Token ist in allen markiert",
    playback: "Wiedergabe der Bahnen",
    token: "Token",
    chooseToken: "Wählen Sie ein Token in einem Text, um zu sehen, welche Stufe es in jeder Bahn geliefert hat.",
    shorter: "sein Text ist zu Ende",
    noRaces: "Zu dieser Seite gehört kein Rennen. Stellen Sie eines mit eigenen Stapeln auf.",
    loading: "Das Rennen wird geöffnet…",
    onPlay: "Zum Erkunden öffnen",
    onPlayTip: "öffnet diese Bahn im Reiter Erkunden, mit allem, was jede Stufe tat",
    saveLane: "diese Bahn als Aufzeichnung herunterladen",
    reference: "die anderen werden damit verglichen",
    speedUp: (own, first, repeats) =>
      `${own} Token/s / ${first} der ersten Bahn, ${repeats} Wiederholungen zusammen, die auch über die Plätze entscheiden; das Intervall ist 95 %, nach Wiederholungen gepaart`,
    speedUpOnce: (own, first) => `${own} Token/s / ${first} der ersten Bahn; eine Wiederholung gibt kein Intervall`,
    noPlace:
      "Sie hat keinen Platz: ihre Zeiten sind berechnet, jeder Durchlauf einzeln gemessen und dann auf die Uhr seiner Bahn gelegt, wie mit einem Rechner je Bahn",
    otherClocks: "Die zwei Uhren sind verschieden, das Verhältnis ist also keine Messung eines Rechners",
    rate: "bis zu diesem Zeitpunkt übernommene Token / Zeit auf der Uhr dieser Bahn, seit der Prompt gelesen ist, in der gezeigten Wiederholung",
    repeats: "die Beschleunigung jeder Wiederholung",
    how: "Wie gemessen wurde",
    sampled: (t, topP, seed) => `Temperatur ${t}, top-p ${topP}, Seed ${seed}`,
    greedy: "greedy",
    noSuchRace: (name) => `Es gibt hier kein Rennen „${name}“; ein anderes ist zu sehen.`,
    noSuchPair: (pair) => `„${pair}“ nennt keine zwei Aufzeichnungen dieser Seite; ein Rennen ist zu sehen.`,
    status: (status) => `Status ${status}`,
    notOpened: (why) => `Das Rennen konnte nicht geöffnet werden: ${why}`,
    tooLarge: (mb) => `die Datei ist größer als ${mb} MB; so groß ist kein Rennen`,
    saved: (name) => `Das Rennen wurde als ${name} gespeichert.`,
    prompt: "Prompt",
    plain: "einfaches Dekodieren",
  },
  LANE: {
    nth: (nth) => `Bahn ${nth}`,
    written: (name) => `${name}: geschriebene Token`,
    unit: " Token/s",
    took: (time) => `in ${time}`,
    textOf: (nth, name) => `Text von Bahn ${nth}: ${name}`,
    token: (who, said, time) => `${who}: ${said}; nach ${time}`,
    clock: (nth, of) => `Token ${nth}\u2009/\u2009${of}`,
  },
  SAID: {
    place: (place) => (place === null ? "–" : `${place}.`),
    clocks: (clocks) => [...new Set(clocks.filter(Boolean))].join(" und "),
    rate: (value) => (value === null ? "–" : rounded(value)),
    gain: (value) => `${fixed(value, 2)}×`,
    interval: (interval) => (interval ? `${fixed(interval[0], 2)} bis ${fixed(interval[1], 2)}` : "eine Wiederholung"),
    text: (row, first, sampled, reference) => {
      if (first) return sampled ? "ein eigener Text, zufällig gezogen" : "damit werden die anderen verglichen";
      if (sampled)
        return row.lossless
          ? "ein anderer Text mit derselben Verteilung: jede Bahn zieht zufällig"
          : "ein anderer Text mit anderer Verteilung als der des Zielmodells: dieser Stapel ist verlustbehaftet";
      const { equal, diverges, margin, tie, target } = row.same;
      if (!diverges) return `gleich dem von ${reference}, alle ${equal} Token`;
      const where = `gleich bis Token ${equal}, dann anders`;
      if (!target) return `${where}: das Zielmodell ist ein anderes`;
      if (tie)
        return `${where}: ein Beinahe-Gleichstand, die zwei besten Logits ${precise(margin, 2)} auseinander (Produkte mit einer und mit vielen Zeilen unterscheiden sich in den letzten Bits)`;
      const gap = margin === null ? "" : `, wo die zwei besten Logits ${precise(margin, 2)} auseinanderliegen`;
      return row.lossless ? `${where}${gap}` : `${where}${gap}: dieser Stapel ist verlustbehaftet`;
    },
    ahead: (ahead) =>
      ahead
        ? `${many(Math.abs(ahead), "Token", "Token")} ${ahead > 0 ? "vor" : "hinter"} Bahn 1`
        : "gleichauf mit Bahn 1",
    finished: (name, ns) => `${name} war nach ${duration(ns)} im Ziel.`,
    places: (places) =>
      `Alle Wiederholungen zusammen: ${places.map(([place, name]) => `${place} ${name}`).join("; ")}.`,
    origin: (race, repeats, otherOrder) => {
      const when = race.recorded ? `gelaufen am ${race.recorded}` : "gelaufen";
      const where = [race.machine, race.threads ? `${race.threads} Threads` : "", race.device, race.dtype]
        .filter(Boolean)
        .join(", ");
      return `${when}${where ? ` auf ${where}` : ""}; ${repeats === 1 ? "eine Wiederholung" : `zu sehen ist Wiederholung ${race.shown + 1} von ${repeats}, die von mittlerer Länge${otherOrder ? "; die Reihenfolge ihrer Bahnen ist anders als die aller Wiederholungen zusammen, die über die Plätze entscheidet" : ""}`}`;
    },
  },
  LIVE: {
    stacks: "Stapel: zwei bis vier; mit dem ersten werden die anderen verglichen",
    label: "eigene Stapel rennen lassen",
    preset: "Voreinstellung",
    prompt: "Prompt des Rennens",
    examples: "Beispiele",
    examplesLabel: "Beispiele für Prompts",
    length: "Länge",
    tokens: (n) => `${n} Token`,
    repeats: "rennen",
    times: (n) => (n === 1 ? "einmal" : `${n}-mal`),
    seed: "Seed",
    temperature: "Temperatur",
    noPreset: (reason) => `Hier kann nichts rennen: ${reason || "keine Voreinstellung ist verwendbar"}.`,
    asking: "ein Platz in der Warteschlange wird erbeten",
    plainNote: "ein Token je Durchlauf",
    own: "Der eigene der Voreinstellung",
    ownNote: "was Erzeugen sonst laufen lässt",
    fromPlayNote: "wie er dort gerade zusammengestellt ist",
    tooFew: "Wählen Sie mindestens zwei Stapel.",
    tooMany: (most) => `Ein Rennen hat höchstens ${most} Stapel; nehmen Sie erst einen heraus.`,
    noPrompt: "Der Prompt ist leer: schreiben Sie etwas, oder wählen Sie ein Beispiel.",
    fromPlay: "Der aus Erkunden",
    plainTitle: "Einfaches Dekodieren",
    go: "Rennen starten",
    stop: "Stopp",
    stopping: "Hält an…",
    asked: "Das Rennen wurde angefordert.",
    stoppedEarly: "Angehalten, bevor es begann.",
    unreachable: "Der Server ist nicht erreichbar; es gab kein Rennen.",
    note: (longest) =>
      `Jede Wiederholung führt alle Bahnen aus, der Reihe nach je eine Runde. Das Rennen wartet wie jeder Lauf und dauert höchstens ${Math.round(longest / 60)} Minuten.`,
    fetched: (mb) => `Zuerst werden die Gewichte geholt: ${mb} MB.`,
  },
  COMPARE: {
    open: "Zwei Läufe vergleichen",
    races: "aufgezeichnete Rennen",
    letters: ["A", "B"],
    run: (letter) => `Lauf ${letter}`,
    align: "Ausrichtung",
    byToken: "Token für Token",
    byTime: "nach der Zeit",
    overPlain: (clock) =>
      clock ? `gegenüber seinem eigenen einfachen Lauf, ${clock}` : "gegenüber seinem eigenen einfachen Lauf",
    noPlain: "einfaches Dekodieren wurde nicht gemessen",
    gainTip:
      "Token/s des Laufs / Token/s des einfachen Dekodierens, daneben gemessen; zwei Aufzeichnungen können von verschiedenen Tagen sein",
    otherPrompts: "Sie antworten auf verschiedene Prompts: vergleichen Sie die Zeiten, nicht die Wörter.",
    differ: "andere Stufen",
    differWords: (n, of) => `${n} von ${of} Token kamen von einer Stufe anderer Art`,
    text: (found, index) => {
      if (index === 0) return "";
      if (!found.samePrompt) return "ein anderer Prompt";
      if (found.equal < found.least) return `gleich dem von A bis Token ${found.equal}, dann anders`;
      return found.least === found.most
        ? `gleich dem von A, alle ${found.least} Token`
        : `gleich dem von A, solange beide weitergehen, ${found.least} Token`;
    },
  },
  LOAD: {
    open: "Viele Anfragen zugleich",
    lead: "Ein Server beantwortet viele zugleich: ein Durchlauf liest die Gewichte für alle, und Zeilen werden teuer. Einfaches Dekodieren und ein Stapel beantworten dieselben Anfragen, ein Schub nach dem anderen. Die Uhr beginnt, wenn alle Prompts gelesen sind.",
    key: "Eine Bahn ist eine Anfrage, ein Block einer ihrer Durchläufe: so breit, wie der Durchlauf dauerte, höher, je mehr Zeilen dieser Anfrage darin waren, in der Farbe seiner Stufe. Token/s zählen bis zur grauen Linie, wo der erste Text endet. Drücken Sie auf eine Bahn, um ihren Text zu lesen.",
    loads: "Anfragen zugleich",
    request: "Text der Anfrage",
    stack: "Stapel",
    go: "Hier ausführen",
    none: (n) =>
      `Eine Aufzeichnung von ${many(n, "Anfrage", "Anfragen")} zugleich gehört nicht zu dieser Seite. „Hier ausführen“ dekodiert sie jetzt.`,
    unit: " Token/s zusammen",
    rateTip:
      "Token aller Texte bis zu diesem Zeitpunkt, höchstens bis zum Ende des ersten Textes / Zeit, seit der letzte Prompt gelesen ist",
    tokens: (n) => `${count(n)} Token`,
    gain: (gain) => `${gain} einfaches Dekodieren`,
    picture: (name, passes) => `${name}: eine Bahn für jede Anfrage. ${passes.join("; ")}.`,
    passes: (level, n, rows) => `${level}: ${many(n, "Durchlauf", "Durchläufe")} mit im Mittel ${rows} Zeilen`,
    result: (load, [plain, own], gain) =>
      `${many(load, "Anfrage", "Anfragen")} zugleich: zusammen ${plain} Token/s mit einfachem Dekodieren, ${own} mit dem Stapel, ${gain}.`,
    same: (equal, of) =>
      equal === of
        ? `gleich dem des einfachen Dekodierens, alle ${of} Token`
        : `gleich dem des einfachen Dekodierens bis Token ${equal}, dann anders`,
    table: "Die Durchläufe als Tabelle",
    columns: ["Stufe", "Durchläufe", "ms je Durchlauf", "Zeilen je Durchlauf", "Anfragen je Durchlauf"],
    origin: (head, nth, gains) => {
      const where = [head.machine, head.threads ? `${head.threads} Threads` : "", head.device, head.dtype];
      const which =
        gains.length > 1
          ? `; Wiederholung ${nth} von ${gains.length} ist zu sehen, die mit der mittleren Beschleunigung (${gains.join(", ")})`
          : "";
      return `Gemessen am ${head.recorded} auf ${where.filter(Boolean).join(", ")}: greedy, höchstens ${head.max_new_tokens} Token je Text${which}.`;
    },
  },
};
