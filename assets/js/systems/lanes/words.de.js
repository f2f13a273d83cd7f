/** Was die Seite von Stufen sagt, die gleichzeitig arbeiten: das Bild einer Lektion, und die Frage des Planers. */

import { fixed, local, ratio } from "../../../text/numbers.js";

const whole = (/** @type {number} */ share) => {
  const percent = 100 * share;
  return percent > 0 && percent < 10 && Math.abs(percent - Math.round(percent)) > 0.05
    ? fixed(percent, 1)
    : String(Math.round(percent));
};

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  LOCK_STEP: {
    label: "Entwerfen und Prüfen der Reihe nach, und gleichzeitig",
    a: { label: "Annahmequote a", text: (v) => fixed(v, 2) },
    g: { label: "Token eines Blocks", text: (v) => String(v) },
    d: { label: "Kosten eines Entwurfs, in Durchläufen", text: (v) => fixed(v, 2) },
    key: ["Entwerfen", "Prüfen"],
    turn: "nacheinander",
    step: "zwei Rechner",
    yields: (tokens, time) => `${local(tokens)} Token in der Zeit von ${local(time)} Durchläufen`,
    ran: (gain, apart) =>
      `Der Lauf selbst, dessen Durchläufe mit mehreren Zeilen mehr kosten, war ${apart ? "auf zwei Bahnen" : "der Reihe nach"} ${local(gain)}-mal so schnell.`,
    says: (x) =>
      `Eine Runde wird höchstens ${local(x.bound)}-mal so schnell. Nach dieser Formel, in der ein Durchlauf gleich viel kostet, wie viele Zeilen er auch hat, und jedes Token gleich oft behalten wird: ${local(x.turn)}-mal einfaches Dekodieren der Reihe nach, ${local(x.step)}-mal auf zwei Rechnern. Mit dem besten Block: ${local(String(x.best[0][0]))} der Reihe nach (${x.best[0][1]} Token), ${local(String(x.best[1][0]))} auf zwei Rechnern (${x.best[1][1]}). ${
        x.pays
          ? "Der zweite Rechner lohnt sich."
          : x.loses
            ? "Der zweite Rechner lohnt sich nicht: der Reihe nach ist es gleich schnell oder schneller."
            : "Keines von beiden ist schneller als einfaches Dekodieren."
      }`,
  },
  SECOND: {
    behind: ["Würde sich ein zweiter Rechner lohnen?", "Stufen, die gleichzeitig arbeiten, errechnet"],
    label: "Würde sich ein zweiter Rechner lohnen?",
    asking: "der Planer wird gefragt…",
    yes: (stack, gain, ms, one) =>
      `Ja, errechnet: ${stack} wäre auf zwei Rechnern ${local(gain)}-mal so schnell wie der beste Stapel auf einem: ${ms} gegen ${one} ms je Token.`,
    no: (stack, ms, one) =>
      `Nein, nicht gleichzeitig: der beste auf zwei Rechnern (${stack}) bräuchte ${ms} ms je Token, der beste auf einem braucht ${one}.`,
    none: "Nein, nicht gleichzeitig: jeder Entwurf hier liest die letzten Zustände des Zielmodells und kann deshalb nicht auf einem anderen Rechner laufen.",
    clock:
      "Errechnet: jeder Durchlauf wurde allein gemessen, dann auf zwei Uhren gelegt, eine für das Zielmodell und eine für das, was dafür entwirft. Das gäbe ein zweiter Rechner dieser Art; empfohlen bleibt der Stapel auf einem.",
    gainsBy: (name, gain, ms, one) =>
      `${name} gewinnt ${local(gain)}-mal: ${ms} ms je Token auf zwei Rechnern, ${one} auf einem.`,
    loses: (name, ms, one) => `${name} nicht gleichzeitig: ${ms} ms je Token auf zwei Rechnern, ${one} auf einem.`,
    even: (name, ms) => `Für ${name} macht es keinen Unterschied: ${ms} ms je Token auf zwei Rechnern und auf einem.`,
    because: (share, a, pays) => {
      const cost = `Ein Token davon kostet ${whole(share)} % eines Durchlaufs des Zielmodells, das ${whole(a)} % annimmt.`;
      if (!pays) return `${cost} Bei dieser Annahmequote lohnt sich Gleichzeitigkeit bei keinen Kosten.`;
      if (share < pays[0])
        return `${cost} Bei dieser Annahmequote lohnt sich Gleichzeitigkeit ab ${whole(pays[0])} %: ein billigerer Entwurf wird besser zuerst fertig gemacht.`;
      return `${cost} Bei dieser Annahmequote lohnt sich Gleichzeitigkeit bis höchstens ${whole(pays[1])} %.`;
    },
    needs: (level) =>
      `${level}: liest die letzten Zustände des Zielmodells, ist also berechnet, kann aber nicht getrennt laufen.`,
    busy: (verifying, drafting) =>
      `Der Rechner des Zielmodells arbeitet ${whole(verifying)} % der Zeit, der andere ${whole(drafting)} %.`,
    here: (gain) => `Mit diesen Zahlen sind zwei Rechner ${local(gain)}-mal so schnell wie der bessere Weg auf einem.`,
    hereNo: (gain) =>
      `Mit diesen Zahlen nicht gleichzeitig: zwei Rechner erreichen das ${local(gain)}-Fache des besseren Wegs auf einem.`,
    hereEven: "Mit diesen Zahlen macht es keinen Unterschied.",
    constant: "Ein Entwurf im Gleichschritt (PEARL), Kosten, die nicht mit den Zeilen wachsen.",
    costs: "Ein entworfenes Token kostet",
    accepts: "Das Zielmodell nimmt an",
    ofPass: (share) => `${whole(share)} % eines Durchlaufs`,
    ofTokens: (share) => `${whole(share)} % der Token`,
    across: "ein entworfenes Token, Anteil an einem Durchlauf des Zielmodells",
    upright: "vom Zielmodell angenommen",
    percent: (share) => `${whole(share)} %`,
    ms: (ms) => `${ms} ms`,
    times: (gain) => `${ratio(gain)}×`,
    same: "kein Unterschied",
    band: (low, high) =>
      low === undefined
        ? `unter ${local(String(high))}×`
        : high === undefined
          ? `${local(String(low))}× und mehr`
          : `${local(String(low))} bis ${local(String(high))}×`,
    bands: "Tempo auf zwei Rechnern gegenüber dem besseren Weg auf einem",
    use: "Diesen Stapel nehmen",
    useTip: "stellt ihn unter Erkunden ein; dort läuft er nach einer errechneten Uhr",
    cannotUse: "Für eine Stufe dieses Stapels gibt es hier keine Gewichte.",
    show: (name) => `${name} auf der Karte zeigen`,
    drafters: "was für das Zielmodell entwerfen kann",
    drafterHead: [
      "entwirft",
      "Gewinn",
      "",
      "ein Token kostet",
      "angenommen",
      "auf einem Rechner",
      "auf zwei, errechnet",
      "Bahnen",
    ],
    lockStep: "Gleichschritt (pearl)",
    free: "frei (ahead)",
    verdicts: { yes: "gewinnt", no: "nicht gleichzeitig", even: "kein Unterschied" },
    pricedOnly: "kann nicht getrennt laufen",
    corner: "angenommen ↓ Kosten →",
    map: "Gewinn eines zweiten Rechners, nach Annahmequote und Kosten",
    asTable: "die Karte als Tabelle",
  },
};
