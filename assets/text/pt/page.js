/** A moldura da página. */
/** @type {import("../language.js").Translation<typeof import("../en/page.js")>} */
export const WORDS = {
  TITLE: {
    help: "ajuda: como ler esta página",
    helpName: "como ler esta página",
    language: "idioma",
    name: "HSD Explorer",
    theme: "claro ou escuro",
  },

  SKIP: {
    name: "ir para",
    playback: "Ir para a reprodução",
    text: "Ir para o texto",
    tower: "Ir para a torre",
    tab: "Ir para o conteúdo desta aba",
  },

  TYPED: {
    none: (name, text) =>
      text ? `“${text}” não é um número: ${name} fica como estava.` : `Nada foi digitado: ${name} fica como estava.`,
    most: (name, high) => `${name} é no máximo ${high} e foi ajustado para isso.`,
    least: (name, low) => `${name} é no mínimo ${low} e foi ajustado para isso.`,
    whole: (name, value) => `${name} é um número inteiro e foi ajustado para ${value}.`,
  },

  NOTE: {
    dismiss: "dispensar esta mensagem",
  },

  FIGURE: {
    noPlots: "o script dos gráficos não pôde ser carregado; a tabela abaixo de cada gráfico tem os mesmos números",
    unread: "nenhum valor foi lido ainda",
    table: "como tabela",
    tableOf: (title) => `${title}, como tabela`,
    said: (title, text) => `${title}. ${text} A tabela abaixo tem os mesmos números.`,
  },

  ASIDE: {
    tip: "mostra-a de novo; o que se vê agora fica no histórico do navegador",
    back: (how) => `A sua execução ${how}: voltar a ela`,
  },

  JOURNEY: {
    lost: "O que era mostrado aqui não está mais guardado: gere ou abra de novo.",
    gone: "A execução em andamento não está mais no servidor.",
    done: "terminou",
    goesOn: "continua",
    begins: "está começando",
  },

  FILES: {
    notCopied: "este navegador não permitiu copiar",
    unreadable: "o arquivo não pôde ser lido",
    notSent: (status) => `o servidor não conseguiu enviar a gravação (status ${status}); escolha-a de novo`,
    tooLarge: (mb) => `o arquivo tem mais de ${mb} MB; nenhum trace de uma execução é tão grande`,
  },
};
