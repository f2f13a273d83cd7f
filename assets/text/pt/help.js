/** A ajuda: como ler cada parte da página. */
/** @type {import("../language.js").Translation<typeof import("../en/help.js")>} */
export const WORDS = {
  PARTS: [
    [
      "A página",
      [
        ["uma palavra com linha pontilhada", "toque nela: o que significa, em duas frases e uma figura"],
        ["Para onde vai o tempo", "abre as raias, os gráficos, a anatomia de uma rodada e a prova"],
        ["A teoria disse 1,71×", "abre a previsão, por que ela errou e quanto vale cada nível"],
        ["Mudar, Mais", "tudo o que muda a pilha; gravações, configurações, compartilhar e como o texto é mostrado"],
      ],
    ],
    [
      "O texto",
      [
        ["cor, letra, sublinhado", "o nível que forneceu o token; mude isso em “cor por”"],
        ["ponto em cima", "um nível abaixo do alvo aceitou o token; um ponto por nível"],
        ["contorno, sem fundo", "ainda não confirmado: um nível acima ainda pode rejeitá-lo"],
        ["riscado, xQ", "um rascunho que o nível Q rejeitou, no lugar onde estava; a linha tem a cor de Q"],
        ["↵, ◌", "uma quebra de linha; um token que contém só parte de um caractere"],
        ["+2", "mais dois rascunhos rejeitados neste lugar, ou tokens perdidos depois de um: clique para vê-los"],
      ],
    ],
    [
      "A frase sob o texto",
      [
        ["Rodada 5: …", "o que acontece no momento mostrado; todos os números vêm do trace"],
        ["p 0,61 contra 0,02", "a probabilidade que o verificador dá à sua própria escolha e ao token rejeitado"],
        ["pausar em ✕", "a reprodução pausa em cada rejeição pelo tempo que se leva para ler sobre ela"],
      ],
    ],
    [
      "A torre",
      [
        ["T", "o máximo de tokens que um nível entrega para cima"],
        ["ms", "tempo por chamada: tempo ocupado / forwards deste nível"],
        ["peças", "tokens desta rodada, subindo de baixo: preenchidos depois de aceitos, riscados se rejeitados"],
        ["aceitos", "aceitação: tokens vindos de baixo que o nível aceitou / que ele julgou"],
        ["barra sob um andar", "o seu cache KV: preenchido nas posições confirmadas, hachurado nas provisórias"],
      ],
    ],
    [
      "As raias",
      [
        ["bloco", "uma chamada de um nível; a largura é tempo medido; nos intervalos o nível espera"],
        ["5→4", "cinco tokens entraram, quatro saíram; +1: só um token de bônus; 3: três rascunhados"],
        ["borda vermelha", "um token foi rejeitado nesta chamada"],
        ["bloco claro", "o nível lê o prompt (prefill)"],
      ],
    ],
    [
      "Teclas",
      [
        ["Ctrl+Enter, Esc", "gerar; parar"],
        ["P, Esc", "apresentar a uma plateia: texto grande, sem prompt; sair"],
        [
          "Espaço, ← →",
          "na barra de reprodução, e em qualquer lugar ao apresentar: reproduzir ou pausar; uma rodada para trás ou para a frente; com Shift, um evento",
        ],
        [
          "A",
          "a anatomia da rodada sob o cursor: ← → mudam o evento, ↑ ↓ o token; um clique duplo nas raias também a abre",
        ],
        ["← → Home End", "no texto: de token em token; Enter fixa o cartão de um token"],
      ],
    ],
  ],

  NAME: {
    title: "O nome",
    text: "HSD aqui é decodificação especulativa hierárquica (hierarchical speculative decoding): uma hierarquia de modelos (Globerson et al. 2025). Outro artigo (Zhou et al. 2026) chama de “HSD” uma regra de verificação; aqui ela é a regra block.",
  },
};
