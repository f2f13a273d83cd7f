/** How a round is named wherever a person reads of one: counted from 1. Traces, and lists of rounds, count from 0. */

/** @param {number} round of a trace, or a place among the rounds; -1: before the first */
export const roundNumber = (round) => round + 1;

/** The place of a round that a person has named. @param {number} number */
export const placeOfNumber = (number) => number - 1;
