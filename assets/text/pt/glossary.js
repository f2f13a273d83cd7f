/** O glossário. */
/** @type {import("../language.js").Translation<typeof import("../en/glossary.js")>} */
export const WORDS = {
  GLOSSARY_SAY: {
    close: "Fechar a definição",
    what: (word) => `${word}: o que é`,
  },

  GLOSSARY: {
    token: {
      word: "token",
      forms: ["tokens"],
      says: [
        "A unidade em que um modelo lê e escreve: uma palavra, parte de uma palavra ou um sinal.",
        "Cada pedaço colorido do texto é um token.",
      ],
      picture: { rows: ["T O gato sentou ali"] },
    },
    stack: {
      word: "pilha",
      forms: ["pilhas"],
      says: [
        "Níveis em ordem de custo, em que cada um verifica o anterior; o último é o alvo.",
        "A página a desenha como uma torre, com o nível mais barato no térreo.",
      ],
    },
    level: {
      word: "nível",
      forms: ["níveis"],
      says: [
        "Um modelo, uma cópia mais barata dele ou uma busca que propõe tokens e verifica os que vêm de baixo.",
        "Um nível no meio ajuda quando pega palpites errados em menos tempo do que o alvo precisaria.",
      ],
    },
    target: {
      word: "alvo",
      forms: ["alvos"],
      says: [
        "O modelo cujo texto se quer; é o nível mais alto da pilha.",
        "Em uma pilha exata os níveis abaixo dele mudam a velocidade do texto, nunca o que ele diz.",
      ],
    },
    draft: {
      word: "rascunho",
      forms: ["rascunhos", "rascunhar", "rascunha", "rascunhou", "rascunhado", "rascunhados"],
      says: [
        "Adivinhar barato os próximos tokens, antes que um nível maior os tenha visto; também os próprios palpites.",
        "Em uma pilha exata um rascunho errado custa tempo, nunca um texto errado.",
      ],
      picture: { rows: ["T O gato", "N _ _ ?sentou ?no ?tapete"] },
    },
    verify: {
      word: "verificar",
      forms: ["verifica", "verificou", "verificado", "verificados", "verificador", "verificadores"],
      says: [
        "Conferir tokens rascunhados em uma passagem que lê todos de uma vez.",
        "O nível que faz isso os mantém até o primeiro que rejeita.",
      ],
      picture: { rows: ["T .sentou .no ~tapete", "N sentou no tapete"] },
    },
    pass: {
      word: "passagem",
      forms: ["passagens", "forward"],
      says: [
        "Uma execução de um modelo sobre alguns tokens, que lê todos os seus pesos uma vez.",
        "Lê-los toma a maior parte do tempo, então verificar cinco tokens custa pouco mais que escrever um.",
      ],
    },
    accept: {
      word: "aceitar",
      forms: ["aceita", "aceitos", "aceitação", "taxa de aceitação", "aceito", "aceitou"],
      says: [
        "Um nível aceita um token rascunhado que também teria escrito; em texto amostrado decide uma moeda, com peso p/q.",
        "O token então sobe um nível; um ponto acima dele marca cada nível que o aceitou antes do alvo.",
      ],
      picture: { rows: ["Q .sentou .no ~chão", "N sentou no chão"] },
    },
    reject: {
      word: "rejeitar",
      forms: ["rejeita", "rejeitado", "rejeição", "rejeições", "rejeitados", "rejeitou"],
      says: [
        "Um nível rejeita um token rascunhado que não teria escrito, e com ele tudo o que foi adivinhado depois.",
        "Rascunhos rejeitados ficam no texto riscados, com a letra do nível que os pegou.",
      ],
      picture: { rows: ["Q .sentou ~em ~um", "N sentou em um"] },
    },
    correction: {
      word: "correção",
      forms: ["correções"],
      says: [
        "O token que um verificador escreve no lugar do que rejeitou.",
        "Não custa outra passagem: a passagem que achou o erro já o computou.",
      ],
      picture: { rows: ["T .sentou +no", "N sentou ~em"] },
    },
    bonus: {
      word: "bônus",
      forms: ["token de bônus", "tokens de bônus"],
      says: [
        "O token que um verificador acrescenta quando aceitou tudo o que recebeu.",
        "A passagem computou de qualquer modo o que vem depois do último rascunho.",
      ],
      picture: { rows: ["T .sentou .no +tapete", "N sentou no"] },
    },
    round: {
      word: "rodada",
      forms: ["rodadas"],
      says: [
        "Uma verificação pelo alvo e todo o trabalho que levou a ela.",
        "Ela acrescenta ao texto pelo menos um token: uma correção ou um bônus.",
      ],
    },
    row: {
      word: "linha",
      forms: ["linhas"],
      says: [
        "Uma entrada de uma passagem e o que se lê depois dela: uma distribuição sobre o próximo token.",
        "Verificar quatro rascunhos toma cinco linhas: uma depois de cada um e uma antes do primeiro.",
      ],
      picture: { rows: ["T .ele .senta .no .tapete +.", "Q ele senta no tapete"] },
    },
    distribution: {
      word: "distribuição",
      forms: ["distribuições"],
      says: [
        "Probabilidades de todos os tokens que poderiam vir a seguir; juntas elas somam 1.",
        "A letra q indica a distribuição do nível que rascunhou, p a do nível que verifica.",
      ],
      picture: { bars: "no:0.6 em:0.3 ao:0.1" },
    },
    temperature: {
      word: "temperatura",
      says: [
        "Quanto acaso há na escolha de um token: em 0 toma-se sempre o mais provável (guloso).",
        "Em 1 ele é sorteado da distribuição do próprio modelo; quanto menor a temperatura, mais ganham os prováveis.",
      ],
      picture: { bars: "no:0.6 em:0.3 ao:0.1", other: "no:0.88 em:0.11 ao:0.01" },
    },
    exact: {
      word: "exato",
      forms: ["exata", "exatos", "exatas"],
      says: [
        "O texto é o que o alvo sozinho teria escrito: os mesmos tokens se guloso, a mesma distribuição se amostrado.",
        "É assim porque todo rascunho precisa da aprovação do alvo; “prova” mostra isso para esta execução.",
      ],
      picture: {
        rows: ["T O gato sentou ali", "T .O .gato .sentou +ali", "N _ gato sentou ~lá"],
      },
    },
    lossy: {
      word: "com perda",
      says: [
        "Com esta regra um nível pode manter rascunhos que o alvo sozinho não teria escrito.",
        "Isso pode ser mais rápido, mas o texto pode mudar; a página o diz onde quer que tal pilha apareça.",
      ],
      picture: { rows: ["T O gato sentou ali", "T .O .gato .deitou .ali", "N _ gato deitou ali"] },
    },
    speedup: {
      word: "aceleração",
      forms: ["acelerações", "speed-up"],
      says: [
        "Tokens por segundo em relação aos do alvo sozinho, com o mesmo prompt na mesma máquina.",
        "Abaixo de 1× a pilha perde: poucos rascunhos são aceitos, ou fazê-los custa mais do que poupam.",
      ],
      see: ["?recording=08-loses", "Uma execução que perde"],
    },
    block: {
      word: "comprimento do bloco",
      forms: ["comprimentos de bloco"],
      says: [
        "O máximo de tokens que um nível entrega de uma vez: T no seu andar.",
        "Um bloco maior poupa passagens enquanto seus rascunhos são aceitos; o que vem depois do primeiro errado é desperdício.",
      ],
      picture: { rows: ["T .sentou .no ~chão", "N sentou no chão frio"] },
    },
    policy: {
      word: "política de parada",
      forms: ["políticas de parada"],
      says: [
        "Decide quando um nível entrega antes que seu bloco esteja cheio, por exemplo onde os rascunhos ficam incertos.",
        "Ela poupa trabalho que provavelmente seria desperdiçado.",
      ],
      picture: { rows: ["Q .sentou .no", "N sentou no _ _"] },
    },
    waste: {
      word: "desperdício",
      forms: ["desperdiçados"],
      says: [
        "Tokens rascunhados que nunca chegam ao texto: rejeitados, ou perdidos depois de um rejeitado.",
        "O tempo que eles levaram faz parte de toda aceleração mostrada aqui.",
      ],
      picture: { rows: ["T .sentou ~na", "N sentou na ~caixa ~azul"] },
    },
    cache: {
      word: "cache KV",
      forms: ["caches KV"],
      says: [
        "Chaves e valores que um modelo guarda dos tokens que leu, para que nenhuma passagem os leia de novo.",
        "No andar, a barra é cheia para tokens do texto e hachurada para rascunhos, que podem ter de ser cortados.",
      ],
    },
    prefill: {
      word: "prefill",
      says: [
        "A passagem em que um nível lê o prompt, antes que o primeiro token seja escrito.",
        "Ela aparece no relógio e fica fora da aceleração.",
      ],
    },
    exit: {
      word: "saída antecipada",
      forms: ["saídas antecipadas"],
      says: [
        "Um nível que executa só as primeiras camadas do alvo e lê ali o próximo token.",
        "Ele compartilha os pesos do alvo, e o alvo continua a partir do que ele computou.",
      ],
    },
    lookup: {
      word: "busca",
      forms: ["buscas"],
      says: [
        "Um nível sem modelo: acha onde os últimos tokens já estavam antes e copia o que veio depois deles ali.",
        "Custa quase nada e acerta muitas vezes onde um texto se repete.",
      ],
      picture: { rows: ["T o gato senta . o gato", "N _ _ _ _ _ _ ?senta"] },
    },
    copy: {
      word: "cópia quantizada",
      forms: ["cópia de 8 bits", "cópia de 4 bits", "cópias quantizadas"],
      says: [
        "O mesmo modelo com os pesos arredondados para 8 ou 4 bits.",
        "Uma passagem dela lê menos memória, e quase todos os seus tokens são os do original.",
      ],
    },
    model: {
      word: "modelo de rascunho",
      forms: ["modelos de rascunho"],
      says: [
        "Um modelo menor, treinado com o mesmo tipo de texto, que adivinha para o maior.",
        "Ele precisa usar os mesmos tokens que o alvo.",
      ],
    },
    tree: {
      word: "árvore",
      forms: ["árvores"],
      says: [
        "O que um nível entrega ao seguinte: tokens, cada um depois do seu pai.",
        "Onde nada se ramifica ela é uma cadeia, o caso simples.",
      ],
      picture: { rows: ["T .sentou .no", "D sentou no", "D ~deitou ~em"] },
    },
    candidate: {
      word: "candidato",
      forms: ["candidatos"],
      says: [
        "Um entre vários tokens oferecidos para o mesmo lugar.",
        "Uma passagem julga todos, e no máximo um é mantido.",
      ],
      picture: { rows: ["T +sentou", "D sentou", "D ~deitou", "D ~correu"] },
    },
    rule: {
      word: "regra",
      forms: ["regras"],
      says: [
        "Decide quais tokens rascunhados um nível mantém.",
        "Regras exatas preservam a distribuição do próprio alvo; as outras são marcadas como com perda.",
      ],
      picture: { bars: "no:0.6 em:0.3", other: "no:0.4 em:0.5" },
    },
    plan: {
      word: "plano",
      forms: ["planos"],
      says: [
        "Quais níveis rodam e com quais comprimentos de bloco.",
        "Auto faz um novo entre as rodadas, a partir de custos medidos e do que foi aceito até ali.",
      ],
    },
    probe: {
      word: "sonda",
      forms: ["sondas"],
      says: [
        "Uma linha em uma passagem, ao lado dos rascunhos, que ninguém julga.",
        "O que se lê nela volta para o nível que rascunha (lookahead).",
      ],
      picture: { rows: ["T .sentou .no ?tapete", "N sentou no"] },
    },
    context: {
      word: "contexto",
      says: [
        "O que um modelo lê antes de escrever: o prompt e o texto até ali.",
        "Rascunhos só fazem parte dele enquanto esperam o julgamento.",
      ],
      picture: { rows: ["T O gato sentou ?no ?tapete"] },
    },
    reckoned: {
      word: "calculado",
      forms: ["relógio calculado"],
      says: [
        "Cada passagem foi executada e cronometrada sozinha e depois posta no relógio da sua raia, como se cada raia fosse uma máquina própria.",
        "Tokens, linhas e o tempo de cada passagem são reais; só a sobreposição das passagens é aritmética.",
      ],
      see: ["?recording=28-copy-pearl", "Uma execução em dois relógios"],
    },
  },
};
