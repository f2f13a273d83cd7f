/** What the client's model keeps of a run's tokens. Times are ns on the engine's clock; null: not (yet). */

import type { Bound, Copied, Row } from "./events.js";

/** What one verifier made of a token. `bound`: of the place that it was offered for. */
export interface Judgement {
  level: number;
  below: number | null;
  outcome: string;
  alpha: number;
  coin: number | null;
  p: number;
  q: number;
  pRow: Row | null;
  qRow: Row | null;
  residual: Row | null;
  t: number;
  round: number;
  bound: Bound | null;
}

/** A token that any level drafted or drew. */
export interface TokenRecord {
  serial: number;
  id: number;
  at: number;
  level: number;
  how: string;
  source: string;
  round: number;
  q: number | null;
  confidence: number | null;
  copied?: Copied | null;
  key?: number | null;
  depth?: number | null;
  draws?: number;
  drawn?: { p: number; pRow: Row | null };
  tDraft: number;
  tCommit: number | null;
  tGone: number | null;
  goneBy: number | null;
  lostWith: number | null;
  judgements: Judgement[];
  passed: { level: number; t: number }[];
  followers: TokenRecord[];
  places: { t: number; at: number }[];
  fork?: Fork | null;
  insteadOf?: number | null;
}

/** What is known of a token when it is made. */
export type Made = Partial<TokenRecord> &
  Pick<TokenRecord, "serial" | "id" | "at" | "level" | "how" | "source" | "round" | "q" | "confidence">;

/** When a tree was judged, by whom, and how many of its tokens were kept. */
export interface Judged {
  t: number;
  level: number;
  kept: number;
}

/** A place with candidates: behind the token `parent`, or behind the text. */
export interface Fork {
  tree: Tree;
  parent: number | null;
}

/** Several sequences that were drafted side by side at `t`. */
export interface Tree {
  t: number;
  round: number;
  level: number;
  /** Of each node, as are `depths` and `rowOf`; -1: behind the text. */
  parents: number[];
  depths: number[];
  rowOf: number[];
  rows: number;
  nodes: TokenRecord[];
  judged: Judged | null;
  /** The fork at which nothing was kept. */
  end: { parent: number | null; at: number };
}
