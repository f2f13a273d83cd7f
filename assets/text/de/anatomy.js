/** Die Anatomie einer Runde. */

import { many } from "../many.js";
import { count, figure } from "../numbers.js";

const NBSP = "\u00a0";
const quoted = (/** @type {string} */ text) => `\u201e${text}\u201c`;
const token = (/** @type {number} */ n) => many(n, "Token", "Token");
const list = (/** @type {string[]} */ texts) =>
  texts.length > 4 ? `${texts.slice(0, 4).join(" ")} und ${texts.length - 4} weitere` : texts.join(" ");
/** @type {Record<string, string>} */
const KINDS = { whole: "alle", sink: "erste", chosen: "gewählte", recent: "letzte", since: "seit dem Prompt" };

/** @type {import("../language.js").Translation<typeof import("../en/anatomy.js")>} */
export const WORDS = {
  SAY: {
    title: (nth, of) => `Anatomie von Runde ${nth} von ${of}`,
    facts: (tokens, time) => `${tokens} in ${time}`,
    waiting: "noch nicht übernommen",
    tokens: token,
    event: (nth, of) => `Ereignis ${nth} von ${of}`,
    keys: "← → wechseln das Ereignis, ↑ ↓ das Token, Esc schließt",
    open: "Anatomie",
    openTip: "die Runde unter dem Zeiger, Schritt für Schritt (Taste A)",
    openRound: (round) => `Anatomie von Runde ${round}`,
    close: "Die Anatomie schließen (Esc)",
    back: "Voriges Ereignis",
    on: "Nächstes Ereignis",
    events: "Ereignisse der Runde; wählen Sie eines, um dorthin zu gehen",
    picture: "Das Bild der Runde",
    grid: "Die Runde: Stufen von unten nach oben, Positionen von links nach rechts",
    text: "der Text",
    axis: "Position",
    position: "Position im Text; 0 ist das erste Token nach dem Prompt",
    states: {
      asked: "wird geprüft",
      accepted: "angenommen",
      rejected: "verworfen",
      unjudged: "nicht geprüft",
      lost: "verloren",
      committed: "übernommen",
      waiting: "wartet",
    },
    drafted: (text, by, state) => `${text}: entworfen von ${by}, ${state}`,
    written: (text, by, state) => `${text}: geschrieben von ${by}, ${state}`,
    judged: (text, by, state) => `${text}: ${state} von ${by}`,
    none: "Zu diesem Zeitpunkt hat noch keine Runde begonnen.",
    found: "fand nichts",
    empty: "noch kein Aufruf",
    rowTip: (tag, rows) =>
      `die Zeile von ${tag} an dieser Position, die wahrscheinlichsten Token als Balken: ${rows}. Roher Softmax bei Temperatur 1.`,
    choose: "Token der Runde; ↑ und ↓ wählen eines",
  },
  QUOTED: { token: (text) => quoted(text.replace(/^\u00b7(?=.)/, "")) },
  EVENT: {
    none: (tag) => `${tag} fand nichts hinaufzureichen.`,
    drafts: (tag, texts, copies) =>
      texts.length
        ? `${tag} ${copies ? "schlägt" : "entwirft"} ${token(texts.length)}${copies ? " vor" : ""}: ${list(texts)}.`
        : `${tag} fand nichts hinaufzureichen.`,
    begins: "Die Runde beginnt.",
    verifies: (tag, x) => {
      if (!x.kept.length && !x.rejected.length)
        return x.own ? `${tag} bekam nichts und schreibt ${x.own} selbst.` : `${tag} bekam nichts.`;
      const total = x.kept.length + x.rejected.length + x.rest;
      const whole = !x.rejected.length && !x.rest;
      const kept = whole
        ? total === 1
          ? `${tag} behält ${x.kept[0]}`
          : `${tag} behält alle ${total}`
        : x.kept.length
          ? `${tag} behält ${x.kept.length} von ${total}`
          : `${tag} behält keines von ${total}`;
      const lost = x.rejected.length ? `, verwirft ${list(x.rejected)}` : "";
      const after = x.rest ? ` (${x.rest} nicht geprüft)` : "";
      const own = x.own ? ` und schreibt ${x.own} ${x.how === "bonus" ? "als Bonus" : "stattdessen"}` : "";
      return `${kept}${lost}${after}${own}.`;
    },
    commits: (n) => `${token(n)} übernommen: jetzt ${n === 1 ? "ist es" : "sind sie"} Teil des Texts.`,
    plan: "Der Lauf änderte seinen Plan der Stufen.",
    rows: (n, behind, probes) => {
      const parts = [behind && `${behind} nur zum Nachlesen`, probes && `${probes} für das Fenster voraus`];
      const said = parts.filter(Boolean);
      return many(n, "Zeile", "Zeilen") + (said.length ? ` (${said.join(", ")})` : "");
    },
  },
  KV: {
    name: "KV",
    of: (name) => `Schlüssel und Werte: ${name}.`,
    before: "Vor der Runde:",
    now: "Jetzt:",
    unknown: "nicht aufgezeichnet",
    lengths: (x) =>
      `${x.cached} Positionen im Cache, ${x.catch_up} noch zu lesen; der Kontext ist ${x.committed} übernommen und ${x.held} gehalten`,
    formula: "im Cache + noch zu lesen = übernommen + gehalten, den Prompt eingeschlossen.",
    none: "kein Cache",
    waits: (n) => `${n} zu lesen`,
  },
  HELD: {
    title: "Was jede Stufe von den Schlüsseln und Werten sieht",
    kinds: KINDS,
    short: (sees, of) => `${count(sees)} von ${count(of)}`,
    sees: (name, x) => {
      const parts = x.parts.map((part) => `${count(part.count)} ${KINDS[part.kind]}`).join(", ");
      const whole = x.sees >= x.total;
      const what = whole
        ? `alle ${count(x.total)} Positionen`
        : `${count(x.sees)} von ${count(x.total)} Positionen: ${parts}`;
      const each =
        !whole && x.heads > 1
          ? `. Jeder von ${x.heads} Köpfen wählte seine eigenen; eine blassere Zelle sehen weniger`
          : "";
      return `${name} sieht ${what}${each}${x.borrows ? ", und die letzte Schicht des Zielmodells von allem Geprüften" : ""}.`;
    },
  },
  LAYERS: {
    runs: (text, lo) =>
      `Der letzte Aufruf rechnete ${text}${lo > 0 ? `. Die Ergebnisse der Schichten 0–${lo - 1} werden für Zeilen wiederverwendet, die eine Stufe darunter gelesen hat` : ""}.`,
  },
  ACT: {
    label: "Das gewählte Token",
    by: "geprüft von",
    position: (at) => `Position ${at}`,
    supplied: (name, how) => `${how} von ${name}`,
    how: { draft: "entworfen", correct: "Korrektur", bonus: "Bonus" },
    unjudged: "Noch keine Stufe hat es geprüft.",
    behind: "Nicht geprüft: ein Token davor wurde verworfen.",
    norows: "Dieser Lauf enthält keine Wahrscheinlichkeiten.",
    token: "Token",
    others: "alle anderen",
    columns: {
      q: {
        name: "q",
        tip: (name) =>
          `q: die Verteilung von ${name}, aus der der Entwurf gezogen wurde, nach Temperatur, top-k und top-p`,
      },
      named: { name: "q", tip: (name) => `q: ${name} nennt ein Token ohne Verteilung, also liegt q ganz darauf` },
      p: {
        name: "p",
        tip: (name) => `p: die Verteilung von ${name} an dieser Position, nach Temperatur, top-k und top-p`,
      },
      both: {
        name: "min(p, q)",
        tip: () =>
          "was beide Verteilungen teilen: ein Entwurf wird mit min(1, p / q) behalten, ein Token also mit q · min(1, p / q) = min(p, q) entworfen und behalten",
      },
      rest: {
        name: "Rest",
        tip: () =>
          "norm(max(p − q, 0)): was p über q hinaus hat, auf Summe 1 gebracht. Ein verworfener Entwurf wird durch eine Ziehung daraus ersetzt; so kommt jedes Token mit min(p, q) und dem Rest heraus, und das ist p",
      },
    },
    sum: (kept) => `Summe von min(p, q) = ${figure(kept)}: so oft wird ein Entwurf hier behalten`,
    onlySum: (kept) =>
      `Summe von min(p, q) = ${figure(kept)}: so oft wird ein Entwurf hier behalten, und keine exakte Regel könnte es öfter`,
    bound: (rule, best) =>
      rule === null
        ? `Keine exakte Regel könnte hier einen Kandidaten mit mehr als Wahrscheinlichkeit ${figure(best)} behalten.`
        : figure(rule) === figure(best)
          ? `Diese Regel behält hier einen Kandidaten mit Wahrscheinlichkeit ${figure(rule)}; keine exakte Regel könnte es besser.`
          : `Diese Regel behält hier einen Kandidaten mit Wahrscheinlichkeit ${figure(rule)}; keine exakte Regel könnte mehr als ${figure(best)}.`,
    boundTip:
      "über alle Kandidaten, die hier hätten angeboten werden können. Das Höchste ist 1 + das Minimum von p(H) − Q(H) über Mengen H von Token, mit Q(H) der Wahrscheinlichkeit, dass alle Kandidaten in H liegen (optimal multi-draft decoding)",
    sumTip:
      "die Summe von min(p, q) über alle Token, 1 − totale Variation von p und q. Token jenseits des aufgezeichneten Anfangs zählen als eines",
    coin: (u, sign, a, out) => `Münze ${u} ${sign} α ${a}: ${out}`,
    certain: (a, out) => `α = ${a}: ${out}, keine Münze nötig`,
    longer: (a) => `α = ${a}; ein längerer Anfang wurde behalten, hier fiel also keine Münze`,
    alphaTip: (p, q, a) =>
      `α = min(1, p / q) = min(1, ${p} / ${q}) = ${a}. Die Münze fällt gleichmäßig zwischen 0 und 1; unter α wird der Entwurf behalten`,
    laterTip: (a) =>
      `α = min(1, p / q) = ${a}, mit p als dem, was die früheren Kandidaten übrig ließen, norm(max(p − q, 0)) nach jedem, und q als der Verteilung, aus der dieser gezogen wurde. Die Münze fällt gleichmäßig zwischen 0 und 1; unter α wird der Entwurf behalten`,
    again: (n) =>
      `${n}-mal gezogen, mit Zurücklegen. Die erste Ziehung wird geprüft; ist sie verworfen, bleibt diesem Token keine Wahrscheinlichkeit, also werden auch die anderen verworfen.`,
    blockTip: (a) =>
      `Regel block: α ist h = ${a}, die Wahrscheinlichkeit, dass der Block bis hierher behalten wird; sie wägt den ganzen Anfang ab, nicht dieses Token allein`,
    matched: {
      accepted: (a) => `α = p = ${a}; aus p wurde ein Token gezogen, und es ist dieses`,
      rejected: (a) => `α = p = ${a}; aus p wurde ein Token gezogen, und es ist ein anderes`,
    },
    matchTip: (a) =>
      `Regel match: aus p wird ein Token gezogen, und der Entwurf bleibt, wenn es dasselbe ist, also mit Wahrscheinlichkeit ${a}; q spielt keine Rolle`,
    drawnOwn: (text) => `${text} wurde aus p gezogen und nimmt diese Stelle ein.`,
    block: "Regel block: α wägt den ganzen Anfang ab, und der Rest ist norm(max(w p − q, 0)).",
    accepted: "behalten",
    rejected: "verworfen",
    drawn: (text, share) =>
      `${text} ist aus dem Rest gezogen${share === null ? "" : ` (${figure(share)} davon)`} und nimmt diese Stelle ein.`,
    kept: (text) => `${text} bleibt; ein Rest ist nicht nötig.`,
    hypothetical: "Rest: wäre der Entwurf verworfen worden",
    bonus: (name, p) =>
      `Alle Entwürfe davor wurden behalten, also zieht ${name} noch eines aus der eigenen Zeile: p ${figure(p)}.`,
    alone: (name, p) => `Es gab keinen Entwurf zu prüfen: ${name} zieht aus der eigenen Zeile, p ${figure(p)}.`,
    estimate:
      "≈: das Ende einer Zeile ist nicht Token für Token aufgezeichnet; diese Verteilungen sind aus ihrem Anfang geschätzt.",
    exact:
      "Verteilungen, wiederhergestellt aus den aufgezeichneten Zeilen und den aufgezeichneten p und q; „alle anderen“ sind ein Symbol.",
    copied: (where) => `kopiert aus: ${where}: `,
    why: (alike) => `die ${token(alike)} davor sind gleich`,
  },
  GREEDY: {
    raw: "roh",
    p: (name) => `p: roher Softmax von ${name} bei Temperatur 1; der Lauf ist greedy, also zählt nur die erste Wahl`,
    q: (name) => `q: roher Softmax von ${name} bei Temperatur 1; die erste Wahl ist der Entwurf`,
    same: (tag, text, p) =>
      `Auch die erste Wahl von ${tag} ist ${text} (${p}): behalten. Keine Münze: greedy ist alles oder nichts.`,
    against: (tag, top, p, text, mine) =>
      `Die erste Wahl von ${tag} ist ${top} (${p}); der Entwurf ${text} hat ${mine}`,
    rejected: "verworfen.",
    byRule: "nach der Regel dieser Stufe behalten.",
    own: (tag, text, p) => `${tag} schreibt die eigene erste Wahl, ${text} (${p}).`,
    writes: (tag) => `${tag} schreibt die eigene erste Wahl.`,
    sibling: "Als Nächstes wird ein anderer Kandidat für diese Stelle geprüft.",
    held: (n, tag) => `Einer der ${n} Kandidaten ist die erste Wahl von ${tag}, also behält ihn jede exakte Regel.`,
    missed: (n, tag) =>
      `Keiner der ${n} Kandidaten ist die erste Wahl von ${tag}, also hätte keine exakte Regel einen behalten.`,
    drafts: (tag, text, p) => `${tag} entwirft die eigene erste Wahl, ${text} (${p}).`,
    names: (tag) => `${tag} sucht Token: es nennt eines und hat keine andere Wahl.`,
    certain: (tag) => `${tag} reicht dieses Token als sicher hinauf (q = 1): eine andere Wahl ist nicht aufgezeichnet.`,
    beyond: "ein kleinerer Anteil, als aufgezeichnet ist",
    rest: (p) => `alle anderen zusammen ${p}`,
    margin: (m) => `Abstand zur zweiten Wahl ${m}${NBSP}Logits`,
    marginTip: "ln(p der ersten Wahl / p der zweiten) = der Unterschied ihrer Logits",
  },
};
