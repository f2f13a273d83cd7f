/** The sentences of a lesson's picture of lanes. */

/** One level after another, and both at the same time. */
export const LOCK_STEP = {
  label: "Drafting and verifying in turn, and at the same time",
  a: { label: "acceptance a", text: (/** @type {number} */ v) => v.toFixed(2) },
  g: { label: "tokens of a block", text: (/** @type {number} */ v) => String(v) },
  d: { label: "cost of a draft, in passes", text: (/** @type {number} */ v) => v.toFixed(2) },
  key: ["drafting", "verifying"],
  turn: "in turn",
  step: "two machines",
  yields: (/** @type {string} */ tokens, /** @type {string} */ time) => `${tokens} tokens in ${time} passes\u2019 time`,
  ran: (/** @type {string} */ gain, /** @type {boolean} */ apart) =>
    `The run itself, whose passes of several rows cost more, was ${gain} times as fast ${apart ? "on two lanes" : "in turn"}.`,
  says: (/** @type {{bound: string, turn: string, step: string, best: any[][], pays: boolean, loses: boolean}} */ x) =>
    `A round gets at most ${x.bound} times as fast. By this formula, in which a pass costs the same whatever its rows and every token is kept alike: ${x.turn} times plain decoding in turn, ${x.step} on two machines. With the best block: ${x.best[0][0]} in turn (${x.best[0][1]} tokens), ${x.best[1][0]} on two machines (${x.best[1][1]}). ${
      x.pays
        ? "The second machine pays."
        : x.loses
          ? "The second machine does not pay: in turn is as fast or faster."
          : "Neither is faster than plain decoding."
    }`,
};
