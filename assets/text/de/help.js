/** Die Hilfe: wie jeder Teil der Seite zu lesen ist, ihre Tasten, und wessen Namen sie trägt. */

/** @type {import("../language.js").Translation<typeof import("../en/help.js")>} */
export const WORDS = {
  PARTS: [
    [
      "Die Seite",
      [
        ["ein Wort mit gepunkteter Linie", "drücken: was es bedeutet, in zwei Sätzen und einem Bild"],
        ["Wo die Zeit bleibt", "öffnet die Bahnen, die Diagramme, die Anatomie einer Runde und den Beweis"],
        ["Theorie sagte 1,71×", "öffnet die Vorhersage, warum sie danebenlag, und was jede Stufe wert ist"],
        ["Ändern, Mehr", "alles, was den Stapel ändert; Aufzeichnungen, Einstellungen, Teilen, Darstellung des Texts"],
      ],
    ],
    [
      "Der Text",
      [
        ["Farbe, Buchstabe, Unterstreichung", "die Stufe, die das Token geliefert hat; zu ändern mit „Farbe nach“"],
        ["Punkt darüber", "eine Stufe unter dem Zielmodell hat das Token angenommen; ein Punkt je Stufe"],
        ["Umriss, keine Füllung", "noch nicht übernommen: eine Stufe darüber kann es noch verwerfen"],
        ["durchgestrichen, xQ", "ein Entwurf, den Stufe Q verwarf, an seiner Stelle; die Linie hat die Farbe von Q"],
        ["↵, ◌", "ein Zeilenumbruch; ein Token, das nur einen Teil eines Zeichens enthält"],
        ["+2", "zwei weitere verworfene Entwürfe hier, oder verlorene Token dahinter: ein Klick zeigt sie"],
      ],
    ],
    [
      "Die Bildunterschrift",
      [
        ["Runde 5: …", "was im gezeigten Augenblick geschieht; jede Zahl stammt aus der Aufzeichnung"],
        [
          "p 0,61 gegenüber 0,02",
          "die Wahrscheinlichkeit der prüfenden Stufe für ihre eigene Wahl und für das verworfene Token",
        ],
        ["Pause bei ✕", "die Wiedergabe hält bei jeder Verwerfung so lange, wie man braucht, um davon zu lesen"],
      ],
    ],
    [
      "Der Turm",
      [
        ["T", "die meisten Token, die eine Stufe hinaufreicht"],
        ["ms", "Zeit je Aufruf: Rechenzeit / Durchläufe dieser Stufe"],
        [
          "Kacheln",
          "Token dieser Runde, die von unten aufsteigen: gefüllt, wenn angenommen, durchgestrichen, wenn verworfen",
        ],
        ["angenommen", "Annahmequote: Token von unten, die die Stufe annahm / die sie prüfte"],
        [
          "Balken unter einem Stockwerk",
          "sein KV-Cache: gefüllt für übernommene, schraffiert für vorläufige Positionen",
        ],
      ],
    ],
    [
      "Die Bahnen",
      [
        ["Block", "ein Aufruf einer Stufe; seine Breite ist gemessene Zeit; in den Lücken wartet die Stufe"],
        ["5→4", "fünf Token gingen hinein, vier kamen heraus; +1: nur ein Bonus-Token; 3: drei entworfen"],
        ["roter Rand", "in diesem Aufruf wurde ein Token verworfen"],
        ["blasser Block", "die Stufe liest den Prompt"],
      ],
    ],
    [
      "Tasten",
      [
        ["Strg+Eingabe, Esc", "erzeugen; anhalten"],
        ["P, Esc", "vor Publikum vorführen: große Schrift, kein Prompt; verlassen"],
        [
          "Leertaste, ← →",
          "auf der Wiedergabeleiste, und beim Vorführen überall: abspielen oder Pause; eine Runde zurück oder vor; mit Umschalt ein Ereignis",
        ],
        [
          "A",
          "die Anatomie der Runde unter dem Zeiger: ← → wechseln das Ereignis, ↑ ↓ das Token; ein Doppelklick auf die Bahnen öffnet sie auch",
        ],
        ["← → Pos1 Ende", "im Text: von Token zu Token; Eingabe heftet die Karte eines Tokens an"],
      ],
    ],
  ],
  NAME: {
    title: "Der Name",
    text: "HSD ist hier hierarchisches spekulatives Dekodieren: eine Hierarchie von Modellen (Globerson et al. 2025). Ein anderer Aufsatz (Zhou et al. 2026) nennt eine Prüfregel „HSD“; sie heißt hier Regel block.",
  },
};
