/** The running figures of a trace, for recordings that carry no snapshots of the engine's own. Definitions
 *  as in the engine's metrics; a figure that cannot be known yet is null. */

export class Tally {
  constructor() {
    this.levels = [];
    this.prefill = 0; // ns
    this.first = null; // ns of the first commit
    this.committed = 0;
    this.kept = 0;
    this.drafted = 0;
    this.rows = [];
  }

  start(count) {
    this.levels = Array.from({ length: count }, (_, level) => ({ level, judged: 0, accepted: 0, forwards: 0, busy: 0 }));
  }

  work(level, ns, forwards) {
    const mine = this.levels[level];
    if (!mine) return;
    mine.busy += ns;
    mine.forwards += forwards;
  }

  check(level, outcome) {
    const mine = this.levels[level];
    if (!mine || outcome === "unjudged") return;
    mine.judged += 1;
    if (outcome === "accepted") mine.accepted += 1;
  }

  commit(tokens, t) {
    this.first ??= t;
    this.committed += tokens.length;
    this.kept += tokens.filter((x) => x.how === "draft" && x.level < this.levels.length - 1).length;
  }

  /** The same shape as the engine's snapshot. */
  snapshot(round, t) {
    const seconds = (t - this.prefill) / 1e9;
    const target = this.levels[this.levels.length - 1];
    const ratio = (a, b) => (b > 0 ? a / b : null);
    return {
      event: "snapshot", round, t, derived: true,
      committed: this.committed,
      tokens_per_s: ratio(this.committed, seconds),
      tokens_per_target_forward: ratio(this.committed, target?.forwards ?? 0),
      drafts_kept: ratio(this.kept, this.drafted),
      ttft_ms: this.first === null ? null : this.first / 1e6,
      levels: this.levels.map((x) => ({
        level: x.level, judged: x.judged, accepted: x.accepted, acceptance: ratio(x.accepted, x.judged),
        forwards: x.forwards, busy_ms: x.busy / 1e6, ms_per_call: ratio(x.busy / 1e6, x.forwards), waste: null,
      })),
    };
  }
}
