/** What an echo draws: how far back each draft of a run was repeated from. */

import { bring } from "../index.js";

bring({
  desks: [
    {
      name: "echoes",
      key: "e",
      text: "Echoes",
      tip: "How far back drafts were repeated from",
      help: "How far back drafts were repeated from",
      create: ({ stage }) => {
        const el = stage.appendChild(document.createElement("section"));
        const title = el.appendChild(document.createElement("h2"));
        title.textContent = "Echoes";
        const list = el.appendChild(document.createElement("p"));
        return {
          el,
          title,
          selected: null,
          key: () => false,
          update: (/** @type {any} */ model) => {
            const backs = model.rounds.flatMap((/** @type {any} */ round) => round.events)
              .map((/** @type {any} */ event) => event.notes?.echoed?.back);
            list.textContent = backs.filter(Boolean).join(", ");
          },
        };
      },
    },
  ],
});
