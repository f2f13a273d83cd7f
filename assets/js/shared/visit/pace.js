/** What is known before a run is asked for: how many come before it, and how many answers this server writes in a minute. */

const AGAIN_MS = 20_000;

/**
 * @typedef {{ahead: number, answers: number|null}} Pace answers: null while none was measured
 * @param {{call: import("./session.js").Calls, idle: () => boolean, onNews: (pace: Pace) => void}} ctx idle: whether no
 *   run of one's own goes on
 */
export function keepPace({ call, idle, onNews }) {
  const ask = async () => {
    if (document.hidden || !idle()) return;
    const found = await call.pace({}).catch(() => null); // of a server that does not answer nothing is known
    onNews({ ahead: found?.ahead ?? 0, answers: found?.answers ?? null });
  };
  void ask();
  setInterval(ask, AGAIN_MS);
  document.addEventListener("visibilitychange", ask);
}
