/** Uma execução em um arquivo próprio. */
/** @type {import("../language.js").Translation<typeof import("../en/offline.js")>} */
export const WORDS = {
  words: {
    why: "O mesmo texto, mais cedo: níveis pequenos adivinham as próximas palavras, o modelo grande verifica muitos palpites de uma vez; a cor mostra que nível escreveu o quê.",
    recorded: (where) => (where ? `gravada em ${where}` : "gravada"),
    clocks: {
      simulated: () => "simulada: nenhum modelo rodou",
      reckoned: (said) =>
        `${said}; calculada: cada passagem foi cronometrada sozinha e depois posta no relógio da sua raia`,
      real: (said) => `${said}; duas raias trabalhando ao mesmo tempo, em um relógio real`,
    },
    noServer: "este arquivo reproduz uma execução e não tem servidor",
    unreadable: "A execução neste arquivo não pode ser lida; exporte-a de novo.",
  },
};
