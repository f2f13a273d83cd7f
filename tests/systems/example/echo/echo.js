/** What an echo draws: how far back each draft of a run was repeated from; a figure, a reason, a question. */

import { bring } from "../index.js";

const tag = (/** @type {string} */ name, text = "") =>
  Object.assign(document.createElement(name), { textContent: text });

bring({
  desks: [
    {
      name: "echoes",
      key: "e",
      text: "Echoes",
      tip: "How far back drafts were repeated from",
      help: "How far back drafts were repeated from",
      create: ({ stage }) => {
        const el = stage.appendChild(tag("section"));
        const title = el.appendChild(tag("h2", "Echoes"));
        const list = el.appendChild(tag("p"));
        return {
          el,
          title,
          selected: null,
          key: () => false,
          update: (/** @type {any} */ model) => {
            const backs = model.rounds
              .flatMap((/** @type {any} */ round) => round.events)
              .map((/** @type {any} */ event) => event.notes?.echoed?.back);
            list.textContent = backs.filter(Boolean).join(", ");
          },
        };
      },
    },
  ],
  tallies: [
    {
      name: "echoed",
      words: ["echoes", "drafts that repeat what stood before"],
      text: (s) => (s.echoed ? String(s.echoed) : null),
    },
  ],
  losses: [
    {
      name: "echo",
      called: (stack) => (stack.startsWith("echo") ? "the echo" : ""),
      why: (/** @type {number[]} */ backs) =>
        backs.length ? `Few texts say again what stood ${backs.join(" or ")} tokens before.` : "",
    },
  ],
  questions: [
    {
      name: "echo",
      behind: ["An echo", "from which acceptance on it pays"],
      create: ({ onAsk }) => {
        const el = tag("p");
        let wanted = /** @type {any} */ (null);
        return {
          el,
          wake: () => wanted && onAsk(wanted),
          stale: (question) => void (wanted = question),
          show: (answer) => void (el.textContent = `It pays from ${Math.round(100 * answer.from)} % on.`),
          refuse: (text) => void (el.textContent = text),
        };
      },
    },
  ],
});
