/** What has been shown, in the browser's history: Back and Forward lead from run to run. An entry's state names its run;
 *  its address, the settings. */

export class Trail {
  /** @param {(run: string) => void} onTravel Back or Forward came to an entry at which this run was shown */
  constructor(onTravel) {
    this.still = false; // while an entry is returned to, what is shown makes no other one
    addEventListener("popstate", () => {
      if (this.run) onTravel(this.run);
    });
  }

  /** The run of the entry that the browser is at; "" where none was shown yet. */
  get run() {
    return String(history.state?.hx ?? "");
  }

  /** A run is shown: a new entry, unless this one is its own or has had none. @param {string} run */
  shows(run) {
    if (run === this.run) return;
    const state = { ...history.state, hx: run };
    if (this.still || !this.run) history.replaceState(state, "");
    else history.pushState(state, "");
  }
}
