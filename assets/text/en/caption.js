/** The caption's sentences. A name in braces is filled in: a level, a token or several, a figure. */

import { translate } from "../language.js";

/** @typedef {keyof typeof SAYS} Sentence */

export const SAYS = {
  round: "Round {round}: ",

  // Before the first round.
  waits: "The prompt is being read.",
  reads: "{levels} reads the prompt: {count} tokens in {time}.",
  read: "{levels} read the prompt, {count} tokens each, in {time} together.",
  joins: "{who} joins the plan and reads the {count} tokens that it missed.",

  // A level drafts. {place} is one of the places below.
  copies: "{who} copied {tokens} from {place}.",
  drafts: "{who} drafted {tokens}.",
  draftsAt: "{who} chose layer {depth} and drafted {tokens}.",
  draftsCopying: "{who} drafted {tokens}; it copied {count} of them from {place}.",
  draftsOnMiss: "{who} found nothing to copy, so {source} drafted {tokens}.",
  offers: "{who} offered {rows} candidates side by side, {count} tokens, from {place}.",
  grows: "{who} drafted a tree of {count} tokens: {rows} candidates side by side.",

  // A level judges what the one below hands up.
  writes: "{who} wrote {own}.",
  writesItself: "{below} had nothing to offer; {who} wrote {own} itself.",
  passes: "{who} had nothing to judge.",
  keepsOne: "{who} kept {tokens} from {below}.",
  keepsBoth: "{who} kept both tokens from {below}: {tokens}.",
  keepsAll: "{who} kept all {count} tokens from {below}: {tokens}.",
  keepsOneAdds: "{who} kept {tokens} from {below} and added {own}.",
  keepsBothAdds: "{who} kept both tokens from {below}, {tokens}, and added {own}.",
  keepsAllAdds: "{who} kept all {count} tokens from {below}, {tokens}, and added {own}.",
  closest: " Closest: {token}, coin {coin} under α {alpha}.",
  rejects: "{who} rejected {token} from {supplier}: ",
  keepsSomeRejects: "{who} kept {kept} of {count} from {below}, then rejected {token}: ",
  wants: "it wants {want} (p {p} against {q}).",
  wantsWrites: "it wants {want} (p {p} against {q}), and wrote that.",
  writesInstead: "it wrote {own} in its place.",
  neverDraws: "p is 0 there.",
  drewAnother: "it drew a token of its own, and not this one (p {p}).",
  coin: "p {p}, q {q}, so α is {alpha}; the coin fell on {coin}.",
  coinOfBlock: "the block is kept up to here with h {alpha}; the coin fell on {coin}.",
  drew: " It drew {own} from the residual.",
  drewOwn: " It drew {own}.",
  tree: "{who} kept {kept} of {count} tokens, the path {tokens}; {rejected} rejected, {rest} not judged.",
  treeNone: "{who} kept none of {count} tokens; {rejected} rejected, {rest} not judged.",
  wrote: " It wrote {own}.",

  // What a round commits; {all} and {committed} are phrases.
  commits: " That commits {committed}.",
  commitsKept: "{who} kept {all} from {below}: {committed} committed in one pass.",
  commitsKeptAdds: "{who} kept {all} from {below} and added {own}: {committed} committed in one pass.",
  commitsInstead: "{who} wrote {own} instead of {token} from {below}: {committed} committed in one pass.",
  commitsSomeInstead:
    "{who} kept {kept} of {count} from {below}, wrote {own} instead of {token}: {committed} committed in one pass.",

  // Auto.
  plans: "Auto begins with {levels}: {ms} ms a token predicted.",
  replans: "Auto changes the plan to {levels}: {ms} ms a token predicted, {left} with the previous plan.",
  replansBriefly: "Auto changes the plan to {levels}.",
  rests: "From here on {levels}: {why}.",

  // The end.
  length: "Token limit reached: ",
  eos: "The target ended the text: ",
  context: "The context is full: ",
  stopped: "Stopped: ",
  nothing: "nothing was written.",
  result: "{count} tokens in {rounds} rounds and {time}, {speed} tokens/s",
  faster:
    "{count} tokens in {rounds} rounds and {time}: {ratio} times plain decoding ({speed} against {plain} tokens/s)",
  fasterBriefly: "{count} tokens in {rounds} rounds and {time}",
  ratio: ": {ratio} times plain decoding",
  simulated: "; simulated, no model ran.",
  reckoned: ", reckoned for {machines} machines",
  real: ", on the real clock of {machines} processes",
  equal: ", the same text.",
  differs: ", the same text up to token {same}.",
  inDistribution: "; sampled from the same distribution.",
  bare: ".",
};

/** Parts of sentences. */
export const PHRASES = {
  one: "1 token",
  both: "both tokens",
  all: "all {count} tokens",
  some: "{count} tokens",
};

/** Where a copied token was found. */
export const PLACES = { prompt: "the prompt", text: "the text", many: "several places", and: " and " };

/** Before the last of several levels; how a list of tokens ends that is too long to show; what stands for a probability
 *  below the kept rows. */
export const LIST = { and: " and ", more: " and {count} more", under: "under {p}" };

/** What a listener hears of a level and of white space. */
export const HEARD = { quote: ["\u201c", "\u201d"], newline: " new line ", space: " space ", spaces: " spaces " };

translate("caption", { SAYS, PHRASES, PLACES, LIST, HEARD });
