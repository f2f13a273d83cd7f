/** Was das Vorführen von sich sagt. */

/** @type {import("../language.js").Translation<typeof import("../en/presenter.js")>} */
export const WORDS = {
  WORDS: {
    name: "vorführen",
    tip: "für ein Publikum: große Schrift, kein Prompt; Pfeiltasten und Leertaste steuern die Wiedergabe von überall (P; Esc verlässt es)",
  },
};
