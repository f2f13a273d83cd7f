/** What presenting says of itself. */

export const WORDS = {
  name: "present",
  tip: "for a room: large text, no prompt; arrows and Space drive the replay from anywhere (P; Escape leaves)",
};
