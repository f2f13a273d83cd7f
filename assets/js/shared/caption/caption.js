/** One sentence for the event under the cursor, made from the trace alone: a pure function of (model, cursor). A
 *  sentence is a list of parts (text, levels, tokens). `caption-view.js` draws them, `plain` reads them out. */

import { clockOf, lanesUsed } from "../levels/overlap.js";
import { COUNT } from "../../../text/en/lanes.js";
import { duration, figure, fixed, local, ratio, rounded } from "../../../text/numbers.js";
import { LIST, PHRASES, SAYS, PLACES, HEARD } from "../../../text/en/caption.js";
import { isGreedy } from "../levels/greedy.js";
import { variants } from "../levels/stack.js";
import { roundNumber } from "../kit/round-number.js";
import { isCopy } from "../run/copies.js";
import { shortPrice } from "../run/spared.js";
import { kindOf, originOf } from "../levels/kinds.js";

/** @import {Baseline, Check, Draft, Row, Verify} from "../run/events.js"
 *  @import {Judged, Moment, Own, Planned} from "../run/moments.js" @import {TokenRecord} from "../run/records.js"
 *  @import {TraceModel} from "../run/trace.js" */

/** @typedef {{key: string, kind: string, parts: Part[]}} Caption key: two captions of one key say the same */

/** The sentence at a cursor. @param {TraceModel} model
 *  @param {number} cursor ns
 *  @param {Moment|null} moment another one than the cursor's @returns {Caption} */
export function captionAt(model, cursor, moment = model.moments.at(cursor)) {
  if (model.footer && cursor >= model.end) return { key: `end ${model.version}`, kind: "end", parts: end(model) };
  if (!moment) return { key: `prefill ${model.moments.prefills.length}`, kind: "prefill", parts: prefill(model) };
  const settled = moment.kind === "verify" && moment.commit !== null && moment.commit.t <= cursor;
  const whole = moment.kind !== "verify" || moment.own !== null;
  const key = `${moment.index} ${settled} ${whole}`;
  const rejected = moment.kind === "verify" && moment.rejected && !settled;
  return {
    key,
    kind: rejected ? "reject" : moment.kind,
    get parts() {
      return [...fill(SAYS.round, { round: roundNumber(moment.event.round ?? 0) }), ...told(model, moment, settled)];
    },
  };
}

/** @param {TraceModel} model @param {Moment} moment @param {boolean} settled */
function told(model, moment, settled) {
  if (moment.kind === "draft") return drafted(model, moment.event);
  if (moment.kind === "plan") return planned(model, moment);
  if (moment.kind === "join") return fill(SAYS.joins, { who: level(moment.event.level), count: moment.event.tokens });
  return judged(model, moment, settled);
}

// ---- drafts

/** @param {TraceModel} model @param {Draft} e */
function drafted(model, e) {
  const records = e.tokens.map(({ serial }) => model.tokens.get(serial)).filter((x) => x !== undefined);
  const who = level(e.level);
  const tokens = run(model, records);
  const { place, copied, source } = copiedFrom(model, records);
  const tree = records[0]?.fork?.tree;
  if (tree && tree.rows > 1) {
    const said = { who, rows: tree.rows, count: records.length, place };
    return fill(copied === records.length ? SAYS.offers : SAYS.grows, said);
  }
  if (copied === records.length) return fill(SAYS.copies, { who, tokens, place });
  if (source) return fill(SAYS.draftsOnMiss, { who, source, tokens });
  if (copied) return fill(SAYS.draftsCopying, { who, tokens, count: copied, place });
  if (variants().some((own) => own.value === model.levels[e.level].policy) && records[0]?.depth)
    return fill(SAYS.draftsAt, { who, depth: records[0].depth, tokens });
  return fill(SAYS.drafts, { who, tokens });
}

// ---- verdicts

/** @param {TraceModel} model @param {Judged} moment @param {boolean} settled */
function judged(model, moment, settled) {
  const { event, own } = moment;
  const records = event.checks.map((c) => model.tokens.get(c.serial));
  const kept = records.flatMap((x, i) => (x && event.checks[i].outcome === "accepted" ? x : []));
  const first = event.checks.findIndex((c) => c.outcome === "rejected");
  const tree = records[0]?.fork?.tree;
  const who = level(event.level);
  const below = level(event.below ?? Math.max(0, event.level - 1), false);
  const mine = own && token(own.id, event.level);
  const count = event.checks.length;
  const tail =
    settled && moment.commit && model.levels.length > 1
      ? fill(SAYS.commits, { committed: number(moment.commit.tokens.length) })
      : [];
  if (!count) {
    if (!mine) return fill(SAYS.passes, { who });
    if (moment.silent === null) return [...fill(SAYS.writes, { who, own: mine }), ...tail];
    return [...fill(SAYS.writesItself, { who, own: mine, below: level(moment.silent) }), ...tail];
  }
  if (tree && tree.rows > 1) {
    const rejected = event.checks.filter((c) => c.outcome === "rejected").length;
    const slots = {
      who,
      kept: kept.length,
      count,
      tokens: run(model, kept),
      rejected,
      rest: count - kept.length - rejected,
    };
    const wrote = mine ? fill(SAYS.wrote, { own: mine }) : [];
    return [...fill(kept.length ? SAYS.tree : SAYS.treeNone, slots), ...wrote, ...tail];
  }
  if (first >= 0) return rejection(model, moment, { records, first, kept: kept.length, who, below, mine, settled });
  const all = { who, count, below, tokens: run(model, kept), own: mine ?? "" };
  if (tail.length) {
    const [said, phrase] = [mine ? SAYS.commitsKeptAdds : SAYS.commitsKept, count === 2 ? PHRASES.both : PHRASES.all];
    const committed = number(moment.commit?.tokens.length ?? 0);
    return fill(said, { ...all, all: count === 1 ? run(model, kept) : fill(phrase, { count }), committed });
  }
  const many = count === 1 ? "One" : count === 2 ? "Both" : "All";
  const said = SAYS[/** @type {"keepsAll"} */ (`keeps${many}${mine ? "Adds" : ""}`)];
  return [...fill(said, all), ...(isGreedy(model) ? [] : closest(model, event))];
}

/** @param {TraceModel} model @param {Judged} moment @param {{records: (TokenRecord|undefined)[], first: number, kept: number,
 *  who: Part, below: Part, mine: Part|null, settled: boolean}} said */
function rejection(model, moment, { records, first, kept, who, below, mine, settled }) {
  const { event, own, commit } = moment;
  const check = event.checks[first];
  const record = records[first];
  const dropped = token(check.id, record?.level ?? event.level, "rejected");
  if (settled && commit && mine && model.levels.length > 1) {
    const committed = number(commit.tokens.length);
    const slots = { who, kept, count: event.checks.length, below, own: mine, token: dropped, committed };
    return fill(kept ? SAYS.commitsSomeInstead : SAYS.commitsInstead, slots);
  }
  const slots = { who, kept, count: event.checks.length, below, token: dropped };
  const supplier = level(record?.level ?? event.below ?? 0, false);
  const said = fill(kept ? SAYS.keepsSomeRejects : SAYS.rejects, { ...slots, supplier });
  return [...said, ...(isGreedy(model) ? choice(check, own, event, mine) : thrown(model, check, event, mine))];
}

/** Greedy: what the verifier's top choice is, in the raw probabilities.
 *  @param {Check} check @param {Own|null} own @param {Verify} event @param {Part|null} mine */
function choice(check, own, event, mine) {
  const row = check.p_row;
  if (!row?.ids.length || row.ids[0] === check.id) return mine ? fill(SAYS.writesInstead, { own: mine }) : [];
  const at = row.ids.indexOf(check.id);
  const against = at < 0 ? under(row) : share(row.probs[at]);
  const slots = { want: token(row.ids[0], event.level), p: share(row.probs[0]), q: against };
  return fill(own?.id === row.ids[0] ? SAYS.wantsWrites : SAYS.wants, slots);
}

/** Of a token that is not among those of a row that were kept: less than each of them, and than all the others together. */
function under(/** @type {Row} */ { probs, tail }) {
  const most = Math.min(tail, ...probs.slice(-1));
  return most > 0 ? fill(LIST.under, { p: local(String(Number(Math.max(most, 0.001).toPrecision(2)))) }) : "0";
}

/** Sampled: the probabilities of the distributions that were used, and the coin.
 *  @param {TraceModel} model @param {Check} check @param {Verify} event @param {Part|null} mine */
function thrown(model, check, event, mine) {
  const [coin, alpha] = apart(check.coin ?? 0, check.alpha ?? 0);
  const figures = { p: share(check.p), q: share(check.q), alpha, coin };
  const { rule } = model.levels[event.level];
  if (rule === "match" && check.p > 0)
    return [...fill(SAYS.drewAnother, figures), ...(mine ? fill(SAYS.drewOwn, { own: mine }) : [])];
  const why = check.coin === null ? SAYS.neverDraws : rule === "block" ? SAYS.coinOfBlock : SAYS.coin;
  return [...fill(why, figures), ...(mine ? fill(SAYS.drew, { own: mine }) : [])];
}

/** The kept token whose coin came nearest to dropping it; nothing where none was thrown. */
function closest(/** @type {TraceModel} */ model, /** @type {Verify} */ event) {
  const calls = event.checks.flatMap((c) =>
    c.coin !== null && c.alpha !== null ? { ...c, coin: c.coin, alpha: c.alpha } : [],
  );
  if (!calls.length) return [];
  const near = calls.reduce((a, b) => (a.alpha - a.coin <= b.alpha - b.coin ? a : b));
  const mine = token(near.id, model.tokens.get(near.serial)?.level ?? event.level);
  const [coin, alpha] = apart(near.coin, near.alpha);
  return fill(SAYS.closest, { token: mine, coin, alpha });
}

const number = (/** @type {number} */ count) => fill(count === 1 ? PHRASES.one : PHRASES.some, { count });

// ---- plans, the beginning, the end

/** @param {TraceModel} model @param {Planned} moment */
function planned(model, { event, first }) {
  const last = event.levels.length - 1;
  const levels = listed(
    event.levels.map((i, n) => ({ ...level(i, false), block: n < last ? event.blocks[n] : undefined })),
  );
  if (event.predicted_ms === null)
    return fill(model.header?.replan ? SAYS.replansBriefly : SAYS.rests, { why: event.why, levels });
  const ms = fixed(event.predicted_ms, 1);
  if (first || event.left_ms === null) return fill(SAYS.plans, { levels, ms });
  return fill(SAYS.replans, { levels, ms, left: fixed(event.left_ms, 1) });
}

/** @param {TraceModel} model */
function prefill(model) {
  const { prefills } = model.moments;
  if (!prefills.length) return [SAYS.waits];
  const ns = prefills.reduce((sum, x) => sum + x.t1 - x.t0, 0);
  const levels = listed(prefills.map((x) => level(x.level, prefills.length < 3)).reverse());
  return fill(prefills.length > 1 ? SAYS.read : SAYS.reads, { levels, count: prefills[0].tokens, time: seconds(ns) });
}

/** @param {TraceModel} model */
function end(model) {
  const { footer, baseline, header, committed } = model;
  const s = model.snapshots.at(-1);
  if (!footer || !header) return [];
  const reason = SAYS[/** @type {"eos"} */ (footer.reason)] ?? SAYS.stopped;
  if (!committed.length) return fill(reason + SAYS.nothing, {});
  const laid = clockOf(header);
  const clock = laid === "reckoned" || laid === "real" ? SAYS[laid] : "";
  const ms = s?.decode_ms ?? footer.decode_ns / 1e6;
  const speed = ms ? committed.length / (ms / 1e3) : 0;
  const last = baseline?.token_ns.at(-1);
  const machines = COUNT.few(lanesUsed(header));
  const slots = {
    count: committed.length,
    rounds: footer.rounds,
    time: seconds(ms * 1e6),
    speed: rate(speed),
    machines,
  };
  if (!baseline || !last || !speed) {
    return fill(reason + SAYS.result + clock + (header.simulated ? SAYS.simulated : SAYS.bare), slots);
  }
  const plain = baseline.token_ns.length / (last / 1e9);
  const against = { ...slots, ratio: ratio(speed / plain), plain: rate(plain), same: baseline.equal };
  // Both speeds, which the title has, make room for whose clock it is, for a price and for what sampling means: a phone has three lines.
  const price = shortPrice(model);
  const told =
    clock || header.simulated || price || !isGreedy(model) ? SAYS.fasterBriefly + clock + SAYS.ratio : SAYS.faster;
  return [...fill(reason + told + outcome(model, baseline), against), ...(price ? [` ${price}.`] : [])];
}

/** What became of the text, beside plain decoding's. */
function outcome(/** @type {TraceModel} */ model, /** @type {Baseline} */ baseline) {
  if (model.header?.simulated) return SAYS.simulated;
  if (!isGreedy(model)) return model.header?.lossless ? SAYS.inDistribution : SAYS.bare;
  return baseline.diverges ? SAYS.differs : SAYS.equal;
}

// Where a run of drafted tokens was copied from, in words.

/** `place`: the places, each once; `copied`: how many of the tokens come from them; `source`: who drafted in a lookup's
 *  stead, where it found nothing. @param {TraceModel} model @param {TokenRecord[]} records */
export function copiedFrom(model, records) {
  /** @type {Set<string>} */ const places = new Set();
  let copied = 0;
  let source = "";
  for (const record of records) {
    const { kind } = model.levels[record.level];
    const found = originOf(kind, record.source);
    if (!found && !isCopy(record)) {
      if (kindOf(kind).origins.length) source ||= record.source;
      continue;
    }
    copied += 1;
    if (record.copied) places.add(record.copied.at < 0 ? PLACES.prompt : PLACES.text);
    else if (found) places.add(found.title.split(": ").at(-1) ?? found.title);
  }
  const place = places.size > 2 ? PLACES.many : [...places].join(PLACES.and);
  return { place, copied, source };
}

// What a caption is made of: text, levels and tokens; how they fill a sentence, and how it is read out.

/** @typedef {string | {level: number, named: boolean, block?: number} | {token: number, level: number, state: string}} Part
 *    named: with its name; block: with its T. token: its id; level: who supplied it; state: "" | rejected
 *  @typedef {Record<string, string | number | Part | Part[]>} Slots */

const LONGEST = 36; // letters of a run of tokens that is shown
const LONGEST_TOKEN = 18;

/** @param {number} index @param {boolean} named */
export const level = (index, named = true) => ({ level: index, named });
/** @param {number} id @param {number} by */
export const token = (id, by, state = "") => ({ token: id, level: by, state });

/** Tokens of the text one after the other; a long run is cut. @param {TraceModel} model */
export function run(model, /** @type {{id: number, level: number}[]} */ records) {
  let letters = 0;
  const shown = records.filter((x, i) => (letters += model.pieceText(x.id).length) <= LONGEST || i === 0);
  const rest = records.length - shown.length;
  return [...shown.map((x) => token(x.id, x.level)), ...(rest ? fill(LIST.more, { count: rest }) : [])];
}

/** @param {Part[]} parts */
export const listed = (parts) =>
  parts.flatMap((part, i) => (i ? [i === parts.length - 1 ? LIST.and : ", ", part] : [part]));

/** A sentence with its slots filled. @param {string} sentence @param {Slots} slots @returns {Part[]} */
export function fill(sentence, slots) {
  return sentence.split(/\{(\w+)\}/).flatMap((text, i) => {
    if (i % 2 === 0) return text ? [text] : [];
    const value = slots[text] ?? "";
    return /** @type {Part[]} */ (Array.isArray(value) ? value : [typeof value === "number" ? String(value) : value]);
  });
}

/** A token as it is shown: without the dot of its first space, cut where it is long. @param {TraceModel} model */
export function tokenText(model, /** @type {number} */ id) {
  const text = model.pieceText(id).replace(/^\u00b7(?=.)/, "") || "\u2205";
  return [...text].length > LONGEST_TOKEN ? `${[...text].slice(0, LONGEST_TOKEN - 1).join("")}\u2026` : text;
}

/** A caption as it is read out: names instead of letters, tokens in quotes. @param {TraceModel} model @param {Part[]} parts */
export function plain(model, parts) {
  return parts
    .map((part, i) => {
      if (typeof part === "string") return part;
      if ("level" in part && "named" in part) {
        const { name } = model.levels[part.level];
        return part.block === undefined ? name : `${name}, T ${part.block}`;
      }
      const text = tokenText(model, part.token)
        .replaceAll("\u21b5", HEARD.newline)
        .replace(/\u00b7{2,}/g, HEARD.spaces)
        .replace(/^\u00b7$/, HEARD.space)
        .replaceAll("\u00b7", " ")
        .trim();
      const before = parts[i - 1];
      const after = parts[i + 1];
      const [open, close] = HEARD.quote;
      /** @param {Part|undefined} other */
      const joined = (other) => other !== undefined && typeof other !== "string" && "token" in other;
      return `${joined(before) ? "" : open}${text}${joined(after) ? " " : close}`;
    })
    .join("")
    .replace(/ {2,}/g, " ");
}

export const share = (/** @type {number|null|undefined} */ x) => {
  if (x === null || x === undefined) return "\u2013";
  if (x === 0 || x === 1) return String(x);
  return local(x < 0.001 ? "<0.001" : x > 0.99 ? ">0.99" : String(Number(x.toPrecision(2))));
};
/** Two figures with as many digits as tell them apart. @param {number} a @param {number} b */
export function apart(a, b) {
  const [x, y] = [share(a), share(b)];
  return x === y && a !== b ? [figure(a), figure(b)] : [x, y];
}

export const rate = (/** @type {number} */ x) => rounded(x);
export const seconds = duration;
