/** What a block of guesses yields and what it gains, where each guess is kept with the same probability (Leviathan et al.
 *  2023, section 3): tested against hsd_core/theory. */

/** Tokens that a pass commits on average where each of n guesses is kept with probability a. @param {number} a @param {number} n */
export const yielded = (a, n) => (a === 1 ? n + 1 : (1 - a ** (n + 1)) / (1 - a));

/** Speed over plain decoding, where a guess costs c of a pass and a pass costs the same whatever its rows. @param {number} a @param {number} n @param {number} c */
export const gained = (a, n, c) => yielded(a, n) / (1 + n * c);

/** The block length that gains most, 0 where none pays. @param {number} a @param {number} c @param {number} most */
export function bestLength(a, c, most) {
  const lengths = Array.from({ length: most + 1 }, (_, n) => n);
  return lengths.reduce((best, n) => (gained(a, n, c) > gained(a, best, c) + 1e-12 ? n : best), 0);
}
