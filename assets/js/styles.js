/** Our style sheets, beside the scripts on the same server, loaded before anything is drawn. */

const NAMES = ["base", "layout", "tower", "controls", "text", "comb", "lanes", "card"];

/** `more`: the sheets of a tab beside the first screen. @param {string[]} more */
export function loadStyles(...more) {
  return Promise.all(
    [...NAMES, ...more].map((name) => {
      const href = new URL(`../css/${name}.css`, import.meta.url).href;
      if (document.querySelector(`link[href="${href}"]`)) return null;
      const link = document.createElement("link");
      link.rel = "stylesheet";
      link.href = href;
      const done = new Promise((resolve) => {
        link.onload = resolve;
        link.onerror = resolve; // a page without one style sheet is better than none
      });
      document.head.append(link);
      return done;
    }),
  );
}
