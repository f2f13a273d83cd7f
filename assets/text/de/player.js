/** Die Leiste, die einen Lauf abspielt. */

/** @type {import("../language.js").Translation<typeof import("../en/player.js")>} */
export const WORDS = {
  TRANSPORT: {
    label: "Wiedergabe",
    play: "Abspielen",
    halt: "Pause",
    live: "folgen",
    round: (nth, of, time) => `Runde ${nth}\u2009/\u2009${of} \u00b7 ${time}`,
    whole: (time) => `${time} mit dem Prompt`,
    real: "1× Echtzeit",
    start: "Zum Anfang",
    back: "Eine Runde zurück",
    on: "Eine Runde weiter; hält bei jeder Verwerfung",
    end: "Zum Ende",
    moment: "Zeitpunkt des Laufs",
    follow: "Dem Ende des Laufs folgen",
    pause: "Pause bei ✕",
    pauseTip: "Die Wiedergabe hält bei jedem verworfenen Token so lange, wie man braucht, um davon zu lesen",
    pauseName: "Pause bei Verwerfungen",
    speed: "Tempo der Wiedergabe",
    speedTip: "1× ist das ursprüngliche Tempo",
  },
};
