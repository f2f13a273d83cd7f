/** A barra que reproduz uma execução. */
/** @type {import("../language.js").Translation<typeof import("../en/player.js")>} */
export const WORDS = {
  TRANSPORT: {
    label: "Reprodução",
    play: "Reproduzir",
    halt: "Pausar",
    live: "seguir",
    round: (nth, of, time) => `rodada ${nth}\u2009/\u2009${of} · ${time}`,
    whole: (time) => `${time} com o prompt`,
    real: "1× real",
    start: "Ao início",
    back: "Uma rodada para trás",
    on: "Uma rodada para a frente; para em cada rejeição",
    end: "Ao fim",
    moment: "Momento da execução",
    follow: "Seguir o fim da execução",
    pause: "pausar em ✕",
    pauseTip: "A reprodução pausa em cada token rejeitado pelo tempo que se leva para ler sobre ele",
    pauseName: "pausar nas rejeições",
    speed: "Velocidade da reprodução",
    speedTip: "1× é a velocidade original",
  },
};
