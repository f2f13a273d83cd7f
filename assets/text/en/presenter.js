/** What presenting says of itself. */

export const WORDS = {
  name: "present",
  tip: "for an audience: large text, no prompt; arrow keys and Space control the replay from anywhere (P; Escape leaves)",
};
