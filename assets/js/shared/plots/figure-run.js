/** Whose layers stand below the fold: those of a run that is no longer shown are hidden. */

/** @param {string|null} run the run that is shown */
export function figuresOf(run) {
  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".hx-figure"))) {
    figure.dataset.shown = run ?? "";
    judge(figure);
  }
}

/** @param {HTMLElement} figure @param {string} run that it was drawn of */
export function drawnOf(figure, run) {
  figure.dataset.run = run;
  judge(figure);
}

/** @param {HTMLElement} figure */
function judge(figure) {
  const { run, shown } = figure.dataset;
  if (run && shown && run !== shown) figure.dataset.stale = "";
  else delete figure.dataset.stale;
}
