// Written by tests/js/events_dts.py from the classes in hsd_core/core/events; run it when they change.

export interface Header {
  event: "header";
  format: "hsd-trace";
  schema: 3;
  stack: string;
  levels: LevelInfo[];
  sampling: Record<string, any>;
  seed: number;
  prompt_ids: number[];
  max_new_tokens: number;
  lossless: boolean;
  lossless_reason: string;
  preset: string | null;
  machine: string;
  recorded: string;
  versions: Record<string, string>;
  profile: Record<string, any> | null;
  title: string;
  replan: Record<string, any> | null;
  simulated: string;
  reckoned: boolean;
}

export interface LevelInfo {
  index: number;
  name: string;
  kind: string;
  label: string;
  block: number | null;
  policy: string | null;
  theta: number | null;
  rule: string | null;
  bonus: boolean;
  device: string;
  dtype: string;
  layers: number | null;
  weights: Record<string, any> | null;
  params: Record<string, any>;
  shares: number | null;
  reads: number | null;
  lane: number;
}

export interface Piece {
  event: "piece";
  id: number;
  b64: string;
  special: boolean;
}

export interface Prefill {
  event: "prefill";
  level: number;
  tokens: number;
  t0: number;
  t1: number;
  round: number | null;
}

export interface Draft {
  event: "draft";
  round: number;
  level: number;
  at: number;
  tokens: Drafted[];
  work: Work;
  t0: number;
  t1: number;
  notes?: Notes;
}

export interface Drafted {
  serial: number;
  id: number;
  source: string;
  q: number;
  confidence?: number;
  parent?: number;
}

export interface Work {
  forwards?: number;
  rows?: number;
  catch_up?: number;
  ran?: Span[];
  probes?: number;
}

export interface Span {
  lo: number;
  hi: number;
  rows: number;
}

export interface Verify {
  event: "verify";
  round: number;
  level: number;
  below: number | null;
  at: number;
  work: Work;
  checks: Check[];
  t0: number;
  t1: number;
  bounds?: Bound[];
  notes?: Notes;
}

export interface Check {
  serial: number;
  id: number;
  alpha: number | null;
  coin: number | null;
  outcome: "accepted" | "rejected" | "unjudged";
  p: number;
  q: number;
  p_row: Row | null;
  q_row: Row | null;
  residual: Row | null;
}

export interface Row {
  ids: number[];
  probs: number[];
  tail: number;
}

export interface Bound {
  first: number;
  rule: number | null;
  best: number;
}

export interface Correct {
  event: "correct";
  round: number;
  level: number;
  at: number;
  serial: number;
  id: number;
  p: number;
  t: number;
  p_row: Row | null;
}

export interface Bonus {
  event: "bonus";
  round: number;
  level: number;
  at: number;
  serial: number;
  id: number;
  p: number;
  t: number;
  p_row: Row | null;
}

export interface Commit {
  event: "commit";
  round: number;
  at: number;
  tokens: Committed[];
  t: number;
}

export interface Committed {
  serial: number;
  id: number;
  level: number;
  how: "draft" | "correct" | "bonus";
  source: string;
  passed: number[];
}

export interface Rollback {
  event: "rollback";
  round: number;
  level: number;
  before: number;
  after: number;
  t: number;
}

export interface Kv {
  event: "kv";
  round: number;
  levels: KvLength[];
  t: number;
}

export interface KvLength {
  level: number;
  cached: number;
  catch_up: number;
  committed: number;
  held: number;
}

export interface Report {
  event: "report";
  level: number;
  t0: number | null;
  t1: number | null;
  notes?: Notes;
}

export interface Plan {
  event: "plan";
  round: number;
  stack: string;
  levels: number[];
  blocks: number[];
  t0: number;
  t: number;
  predicted_ms: number | null;
  left_ms: number | null;
  why: string;
  acceptance: Record<string, number>;
  load: number | null;
}

export interface Footer {
  event: "footer";
  reason: "eos" | "length" | "context" | "stopped";
  rounds: number;
  committed: number;
  prefill_ns: number;
  decode_ns: number;
  totals: LevelTotal[];
}

export interface LevelTotal {
  level: number;
  forwards: number;
  rows: number;
  tokens_in: number;
  tokens_out: number;
  ns: number;
}

export interface Baseline {
  event: "baseline";
  stack: string;
  prefill_ns: number;
  token_ns: number[];
  equal: number;
  diverges: boolean;
  margin: number | null;
  ids: number[];
  margins: (number | null)[];
}

export interface Threshold {
  theta: number;
}

export type Stale = Record<string, never>;

export interface Dropped {
  serials: number[];
}

export interface Copies {
  copied: (Copied | null)[];
}

export interface Copied {
  at: number;
  alike: number;
  share: number;
}

export interface Draws {
  times: number[];
}

export interface Lookups {
  keys?: number[];
  silent?: number;
}

export interface Moved {
  bytes: number;
  ns: number;
}

export interface Batch {
  runs: number[];
  rows: number[];
  passes: number;
  ns: number;
  alone?: string;
}

export interface Left {
  at: number[];
  sure: number[];
}

export interface Canvases {
  count: number;
}

export interface Rewritten {
  passes: string[][];
}

export interface Ruler {
  bytes: number[];
}

export interface Depths {
  at: number[];
  readouts: string[];
  p: number[][];
  top: number[][];
}

export interface Opinions {
  good: number[];
}

export interface Lattice {
  passes: number[];
  columns?: number[][][];
}

export interface Filed {
  inserts: number;
  evictions: number;
  window?: number[][];
}

export interface Price {
  choices: number[];
  nats: number[];
  spared: number;
  plain?: number;
}

export interface Reread {
  rows: number;
  nodes: number[];
  first: number[];
  second: number[];
}

export interface Asked {
  rows: number;
  ns: number;
}

export interface Turns {
  large: number[];
  bits: number[];
}

export interface Chosen {
  upto: number;
  slots: number;
  heads: number;
  held: Held[];
}

export interface Held {
  lo: number;
  hi: number;
  heads: number;
}

/** What systems say of an event. */
export interface Notes {
  threshold?: Threshold;
  stale?: Stale;
  dropped?: Dropped;
  copies?: Copies;
  draws?: Draws;
  lookups?: Lookups;
  moved?: Moved;
  batch?: Batch;
  left?: Left;
  canvases?: Canvases;
  rewritten?: Rewritten;
  ruler?: Ruler;
  depths?: Depths;
  opinions?: Opinions;
  lattice?: Lattice;
  filed?: Filed;
  price?: Price;
  reread?: Reread;
  asked?: Asked;
  turns?: Turns;
  chosen?: Chosen;
}

export type TraceEvent =
  | Header
  | Piece
  | Prefill
  | Draft
  | Verify
  | Correct
  | Bonus
  | Commit
  | Rollback
  | Kv
  | Report
  | Plan
  | Footer
  | Baseline;
