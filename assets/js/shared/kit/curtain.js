/** The story stands over the whole page: while it does, nothing below it plays. What the page is told is the state of
 *  the root element, from before the first paint on: "asked", then "open", then none. */

const EVENT = "hx:covered"; // on the document; its detail: whether the page is covered
const ASKED = "hx:story"; // on the document: somebody wants the story

/** Whether the page is covered, or about to be. */
export const covered = () => document.documentElement.dataset.story !== undefined;

/** Covers the page, or gives it free. @param {boolean} on */
export function cover(on) {
  if (on) document.documentElement.dataset.story = "open";
  else delete document.documentElement.dataset.story;
  document.dispatchEvent(new CustomEvent(EVENT, { detail: on }));
}

/** Asks for the story. */
export const askForStory = () => document.dispatchEvent(new CustomEvent(ASKED));

/** @param {() => void} f called whenever somebody asks for it */
export const onStoryAsked = (f) => document.addEventListener(ASKED, f);

/** Calls `f` whenever the page is covered or given free. @param {(on: boolean) => void} f */
export function onCover(f) {
  document.addEventListener(EVENT, (/** @type {any} */ event) => f(event.detail));
}
