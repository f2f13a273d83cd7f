// Small traces, written by hand, for the tests of the client's model; and what the server declares of kinds and keys.

import { execFileSync } from "node:child_process";
import { learn } from "../../../assets/js/kinds.js";

const root = new URL("../../..", import.meta.url);
const declared = "import json; from hsd_core.stacks.grammar import grammar; print(json.dumps(grammar()))";
learn(JSON.parse(process.env.HSD_GRAMMAR ?? execFileSync("python3", ["-c", declared], { cwd: root })));

export const b64 = (x) =>
  Buffer.from(typeof x === "string" ? new TextEncoder().encode(x) : Uint8Array.from(x)).toString("base64");

/** A header of levels of these kinds, cheapest first. */
export function header(...kinds) {
  const levels = kinds.map((kind, index) => ({
    index,
    name: kind,
    kind,
    label: "",
    block: 4,
    policy: "fixed",
    theta: null,
    rule: index ? "tokenwise" : null,
    bonus: false,
    device: "cpu",
    dtype: "float32",
    layers: null,
    weights: null,
    params: {},
  }));
  return {
    event: "header",
    schema: 1,
    stack: kinds.join(),
    levels,
    sampling: {},
    seed: 0,
    prompt_ids: [],
    max_new_tokens: 9,
    lossless: true,
    lossless_reason: "",
  };
}

export const piece = (id, bytes, special = false) => ({ event: "piece", id, b64: b64(bytes), special });

/** Tokens as [serial, id] pairs. */
export function draft(at, tokens, t0, t1, round = 0, level = 0) {
  return {
    event: "draft",
    round,
    level,
    at,
    serials: tokens.map((x) => x[0]),
    ids: tokens.map((x) => x[1]),
    sources: tokens.map(() => "c"),
    q: tokens.map(() => 1),
    confidence: tokens.map(() => null),
    forwards: 0,
    rows: 0,
    catch_up: 0,
    t0,
    t1,
  };
}

/** Checks as [serial, id, outcome]: + accepted, x rejected, . unjudged. */
export function verify(level, at, checks, t0, t1, round = 0) {
  const outcome = { "+": "accepted", x: "rejected", ".": "unjudged" };
  return {
    event: "verify",
    round,
    level,
    below: level - 1,
    at,
    rows: checks.length + 1,
    catch_up: 0,
    t0,
    t1,
    checks: checks.map(([serial, id, sign]) => ({
      serial,
      id,
      alpha: 0.5,
      coin: sign === "+" ? 0.2 : 0.8,
      outcome: outcome[sign],
      p: 0.5,
      q: 1,
    })),
  };
}

export const drawn = (event, level, at, serial, id, t, round = 0) => ({
  event,
  round,
  level,
  at,
  serial,
  id,
  p: 0.6,
  t,
  p_row: null,
});

/** Tokens as [serial, id, level, how, passed]. */
export function commit(at, tokens, t, round = 0) {
  return {
    event: "commit",
    round,
    at,
    t,
    tokens: tokens.map(([serial, id, level, how, passed = []]) => ({ serial, id, level, how, source: "", passed })),
  };
}
