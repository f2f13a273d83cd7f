/** What systems bring to the page. A folder NAME beside this file has a script NAME.js, which calls `bring`; it is loaded
 *  before anything is drawn (app/kit/static.py, hsd_core/export/run_page.py), and no other script imports it: a page
 *  without the folder lacks what it draws, and nothing else. */

/** @import {Player} from "../shared/player/player.js" @import {Notes} from "../shared/run/events.js"
 *  @import {Snapshot} from "../shared/run/figures.js" @import {TraceModel} from "../shared/run/trace.js" */

/** A view that takes the room of the lanes (tabs/explore/desk.js). `key` opens it; `text`, `tip` and `help` are of its button and
 *  in the help.
 *  @typedef {{name: string, key: string, text: string, tip: string, help: string,
 *    create: (ctx: {player: Player, stage: HTMLElement, onClose: () => void, onChange: () => void}) => DeskPart}} Desk
 *  @typedef {{el: HTMLElement, title: HTMLElement, selected: number|null, sources?: number[], closed?: () => void,
 *    key: (name: string) => boolean, update: (model: TraceModel, cursor: number) => void}} DeskPart */
/** A picture of a lesson, by the name that app/tabs/learn/lessons.py knows.
 *  @typedef {{name: string, make: (ctx: any) => {el: HTMLElement}}} Picture */
/** Studies on the Results tab, as `page.py` of the system reads them. `figures`: name and maker of each figure of one,
 *  which makes nothing where there is none; `lead` says what one is.
 *  @typedef {{name: string, figures: (study: any) => [string, () => any][],
 *    words: {title: string, about: string, unreachable: string, command: string, lead: (preset: string, about: any, study: any) => string}}} StudyKind
 */
/** What a benchmark that a stack lost is told of it: what the stack is `called`, "" for any other one, and `why`, from what
 *  `why_lost` of the system's `page.py` gives.
 *  @typedef {{name: string, called: (stack: string) => string, why: (known: any) => string}} Loss */
/** A part of a card of the Atlas, made of what `page.py` of the system reads for it. @typedef {{name: string, make: (drawn: any) => HTMLElement}} Card */
/** What stands beside the picture of a round in the anatomy; nothing where the round has nothing of it.
 * @typedef {{name: string, make: (model: TraceModel, round: any, seen: {at: number, call: any}) => HTMLElement|null}} OfRound */
/** What a level sees of the target's keys and values, where that is not all of them. Of a stretch of positions, `share` of
 *  the heads see it; `slots`: positions that a head has; `borrows`: it reads the target's last layer beside them.
 *  @typedef {"none"|"whole"|"sink"|"chosen"|"recent"|"since"} Kind
 *  @typedef {{lo: number, hi: number, share: number, kind: Kind}} Stretch
 *  @typedef {{stretches: Stretch[], slots: number, heads: number, borrows: boolean}} Sight
 *  @typedef {{of: (model: TraceModel, seen: {level: number, at: number, total: number, cached: number|null}) => Sight|null}} Sights
 */
/** A part of the lanes (shared/lanes/lanes.js): `area` is where they are drawn, `host` what is around them.
 *  @typedef {{name: string, create: (area: HTMLElement, host: HTMLElement,
 *    ctx: {onSeek?: (ns: number) => void, redraw: () => void, signal: AbortSignal}) => LanePart}} OfLanes
 *  @typedef {{lay: (root: SVGElement, over: SVGElement) => void, attend: (model: TraceModel) => void,
 *    blocks: (model: TraceModel, scale: any, until: number) => void, draw: (seen: any, scale: any) => void}} LanePart */
/** A line of what is told of a call in the lanes, from the notes of its event; "" for none.
 *  @typedef {{name: string, line: (notes: Notes) => string}} CallLine */
/** A figure beside the charts: its name and its formula, and what it says at a moment; null where a run has none.
 *  @typedef {{name: string, words: [string, string], text: (snapshot: Snapshot, model: TraceModel) => string|null}} Tally */
/** A question to a profile on the Planner tab, which `question.py` of the system answers. `behind`: a title, and what is
 *  inside. A part is told when it comes into sight, when the numbers have changed, and what was answered.
 *  @typedef {{name: string, behind: [string, string],
 *    create: (ctx: {onAsk: (question: any) => void, onUse: (stack: string) => void}) => QuestionPart}} Question
 *  @typedef {{el: HTMLElement, wake: () => void, stale: (question: any) => void, show: (answer: any) => void,
 *    refuse: (text: string) => void}} QuestionPart */
/** More of what a system brings, loaded when a tab is first opened. @typedef {{tab: string, load: () => Promise<unknown>}} Later */

/** @typedef {{desks: Desk[], rounds: OfRound[], sights: Sights[], lanes: OfLanes[], calls: CallLine[], tallies: Tally[], pictures: Picture[], studies: StudyKind[],
 *    cards: Card[], questions: Question[], losses: Loss[], later: Later[]}} Brought */

/** @type {Brought} */
export const brought = {
  desks: [],
  rounds: [],
  sights: [],
  lanes: [],
  calls: [],
  tallies: [],
  pictures: [],
  studies: [],
  cards: [],
  questions: [],
  losses: [],
  later: [],
};

/** @param {Partial<Brought>} some */
export function bring(some) {
  for (const [what, list] of Object.entries(some))
    brought[/** @type {keyof Brought} */ (what)].push(.../** @type {any[]} */ (list));
}

/** Loads what systems bring to a tab. @param {string} tab */
export const bringLater = (tab) => Promise.all(brought.later.filter((one) => one.tab === tab).map((one) => one.load()));
