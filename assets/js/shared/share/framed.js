/** In a frame of another page. A frame may follow the page's height, as a Space's does by the protocol of iframe-resizer:
 *  then no height may be the frame's (css/base.css), and what the reader sees of it is what the page around it says.
 *  Runs before anything is painted, and before the script that speaks the protocol for Gradio. */

const NAME = "[iFrameSizer]"; // every message of the protocol begins so
const SCREEN = [640, 1200]; // px between which a screen is taken as the window around has it
const REST_MS = 100; // a scroll is over

/** @typedef {{clientHeight: number, offsetTop: number, scrollTop: number}} Around the window of the page around, in px:
 *    its height, where the frame begins in that page, how far that page is scrolled */

/** Marks a page that is in a frame, and one that is the text and its transport alone (?embed=1). */
export function markFrame() {
  const { dataset } = document.documentElement;
  if (new URLSearchParams(location.search).get("embed") === "1") dataset.embed = "";
  if (window.parent === window) return;
  dataset.framed = "";
  /** @type {Around|null} */ let around = null;
  const place = () => around && show(seenOf(around, innerHeight));
  let resting = 0;
  addEventListener("resize", place);
  addEventListener("message", ({ source, data }) => {
    if (source !== window.parent || typeof data !== "string" || !data.startsWith(NAME)) return;
    const told = data.slice(NAME.length);
    if (!("follows" in dataset)) {
      dataset.follows = "";
      window.parent.postMessage(`${NAME}${told.split(":")[0]}:0:0:pageInfo`, "*"); // it answers now, and when it is scrolled
    }
    if (!told.startsWith("pageInfo:")) return;
    const first = around === null;
    around = aroundOf(told.slice("pageInfo:".length)) ?? around;
    clearTimeout(resting);
    if (first) place();
    else resting = setTimeout(place, REST_MS);
  });
}

/** What a message says; null where it says no such thing. @param {string} json @returns {Around|null} */
function aroundOf(json) {
  try {
    const { clientHeight, offsetTop, scrollTop } = JSON.parse(json);
    return [clientHeight, offsetTop, scrollTop].every(Number.isFinite) ? { clientHeight, offsetTop, scrollTop } : null;
  } catch {
    return null;
  }
}

/** How high a screen is, and how much of the frame lies above and below what is seen of it, in px. The screen is the
 *  window's, less what stands above the frame if that is little; it never depends on the frame's height.
 *  @param {Around} around @param {number} height of the frame */
export function seenOf({ clientHeight, offsetTop, scrollTop }, height) {
  const head = offsetTop > 0 && offsetTop < clientHeight / 2 ? offsetTop : 0;
  const screen = Math.min(SCREEN[1], Math.max(SCREEN[0], clientHeight - head));
  const above = Math.min(Math.max(0, scrollTop - offsetTop), Math.max(0, height - screen));
  const below = Math.max(0, height - Math.max(0, scrollTop + clientHeight - offsetTop));
  return { screen, above, below: Math.min(below, Math.max(0, height - screen)) };
}

/** @param {{screen: number, above: number, below: number}} seen */
function show({ screen, above, below }) {
  const { style, dataset } = document.documentElement;
  if (!("embed" in dataset)) style.setProperty("--screen", `${screen}px`);
  style.setProperty("--seen", `${above}px`);
  style.setProperty("--foot", `calc(var(--room) + ${below}px)`);
}
