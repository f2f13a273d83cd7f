/** Whether the page opens with the story. Asked before anything is painted: the page's head holds this script by itself. */

export const SEEN = "hx-story"; // kept once the story was seen to its end, or left

/** A link that names the story opens it; one that asks for anything else, never. Without either it opens for those who
 *  have not seen it. @param {{search: string, hash: string}} address @param {boolean} seen */
export function opensStory({ search, hash }, seen) {
  const query = new URLSearchParams(search);
  if (query.get("embed") === "1") return false;
  if (query.get("story") === "1") return true;
  if (seen || hash.length > 1) return false;
  return [...query.keys()].every((name) => name.startsWith("__")); // the host's own, which ask for nothing
}

/** Whether it was seen in this browser. */
export function seenBefore() {
  try {
    return localStorage.getItem(SEEN) !== null;
  } catch {
    return false; // a browser that keeps nothing shows it again
  }
}

/** Marks the page where the story will stand over it. */
export function ask() {
  if (opensStory(location, seenBefore())) document.documentElement.dataset.story = "asked";
}
