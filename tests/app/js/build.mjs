// Small traces, written by hand, for the tests of the client's model; and what the server declares of kinds and keys.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { learn } from "../../../assets/js/shared/levels/kinds.js";
import { TraceModel } from "../../../assets/js/shared/run/trace.js";

const root = new URL("../../../", import.meta.url);
/** The Python that the package runs in. */
export const PYTHON = process.env.HSD_PYTHON ?? "python3";
const declared = "import json; from hsd_core.grammar.stack_text import grammar; print(json.dumps(grammar()))";
learn(JSON.parse(process.env.HSD_GRAMMAR ?? execFileSync(PYTHON, ["-c", declared], { cwd: root })));

export const b64 = (x) =>
  Buffer.from(typeof x === "string" ? new TextEncoder().encode(x) : Uint8Array.from(x)).toString("base64");

export function modelOf(events) {
  const model = new TraceModel();
  model.append(events);
  return model;
}

/** The events of a shipped recording. */
export function recorded(name) {
  const packed = readFileSync(new URL(`assets/traces/${name}.jsonl.gz`, root));
  const lines = gunzipSync(packed).toString().trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

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
    shares: null,
    lane: 0,
  }));
  return {
    event: "header",
    format: "hsd-trace",
    schema: 3,
    stack: kinds.join(),
    levels,
    sampling: {},
    seed: 0,
    prompt_ids: [],
    max_new_tokens: 9,
    lossless: true,
    lossless_reason: "",
    reckoned: false,
  };
}

export const piece = (id, bytes, special = false) => ({ event: "piece", id, b64: b64(bytes), special });

const numbers = (text, mark) => text.split(mark).map(Number);

/** Tokens as "serial:id serial:id", or as such pairs. */
export function draft(at, given, t0, t1, round = 0, level = 0) {
  const tokens = typeof given === "string" ? given.split(" ").map((x) => numbers(x, ":")) : given;
  return {
    event: "draft",
    round,
    level,
    at,
    tokens: tokens.map(([serial, id]) => ({ serial, id, source: "c", q: 1 })),
    work: {},
    t0,
    t1,
  };
}

/** A draft as a tree: of each token the place of the one that it stands behind; -1: none of them, but what `onto` names. */
export function treeFrom(event, parents, onto = []) {
  const behind = (above, i) => (above < 0 ? (onto[i] ?? -1) : event.tokens[above].serial);
  return { ...event, tokens: event.tokens.map((x, i) => ({ ...x, parent: behind(parents[i], i) })) };
}

/** Checks as "serial:id+ serial:idx serial:id.", or as such triples: + accepted, x rejected, . unjudged. */
export function verify(level, at, given, t0, t1, round = 0) {
  const outcome = { "+": "accepted", x: "rejected", ".": "unjudged" };
  const read = (x) => [...numbers(x.slice(0, -1), ":"), x.at(-1)];
  const checks = typeof given === "string" ? given.split(" ").map(read) : given;
  return {
    event: "verify",
    round,
    level,
    below: level - 1,
    at,
    work: { forwards: 1, rows: checks.length + 1 },
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
      p_row: null,
      q_row: null,
      residual: null,
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

/** Tokens as "serial:id level how, serial:id level how by 1+2" (the levels that passed it), or as such lists. */
export function commit(at, given, t, round = 0) {
  const read = (x) => {
    const [token, level, how, , passed] = x.split(" ");
    return [...numbers(token, ":"), Number(level), how, passed ? numbers(passed, "+") : []];
  };
  const tokens = typeof given === "string" ? given.split(", ").map(read) : given;
  return {
    event: "commit",
    round,
    at,
    t,
    tokens: tokens.map(([serial, id, level, how, passed = []]) => ({ serial, id, level, how, source: "", passed })),
  };
}
