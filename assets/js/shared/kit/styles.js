/** The style sheets of a tab beside the first screen, loaded before it is drawn. Those of the first screen come with the
 *  page (`app/serve/door/first.py`). */

/** @param {string[]} names */
export function loadStyles(...names) {
  return Promise.all(
    names.map((name) => {
      const href = new URL(`../../../css/${name}.css`, import.meta.url).href;
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
