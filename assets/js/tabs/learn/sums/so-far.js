/** A round as far as it is known at a moment: what comes later takes no room, so that a picture of it tells nothing that a
 *  question asks. */

/**
 * @param {import("../../../shared/anatomy/round.js").Round} round @param {number} at ns, a settled moment
 * @returns {import("../../../shared/anatomy/round.js").Round}
 */
export function soFar(round, at) {
  const calls = round.calls
    .filter((call) => call.segment.t0 <= at)
    .map((call) => ({
      ...call,
      tiles: call.tiles.filter(({ record, what }) => what === "check" || record.tDraft <= at),
    }));
  const tokens = round.tokens.filter((record) => record.tCommit !== null && record.tCommit <= at);
  const places = [...calls.flatMap((call) => call.tiles.map((tile) => tile.record.at)), ...tokens.map((x) => x.at)];
  const rows = round.rows.map((_, level) =>
    Math.max(0, ...calls.filter((c) => c.segment.level === level && c.tiles.length).map((c) => c.row + c.branches)),
  );
  return { ...round, calls, tokens, rows, columns: Math.max(1, ...places.map((place) => place - round.from + 1)) };
}
