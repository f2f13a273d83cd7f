/** Die Knöpfe, die öffnen, was einen Druck hinter der ersten Ansicht liegt. */

/** @type {import("../language.js").Translation<typeof import("../en/panels.js")>} */
export const WORDS = {
  PANEL: {
    time: "Wo die Zeit bleibt",
    timeTip: "was jede Stufe wann berechnet hat, und die Zahlen des Laufs",
    stack: "Ändern",
    stackTip: "Stufen ein- und ausschalten, verschieben, hinzufügen; wie viel jede entwirft",
    details: "Details",
    detailsTip: "Buchstaben, Punkte und Zähler an jedem Token: welche Stufe es schrieb, annahm oder verwarf",
    controls: "Mehr",
    controlsTip:
      "Aufzeichnungen, Beispiele, Einstellungen, Teilen, Vorführen, Beweis, Hilfe, Sprache, Darstellung des Texts",
  },
};
