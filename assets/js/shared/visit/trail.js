/** What has been shown, in the browser's history: Back and Forward lead from run to run. An entry's state names its run
 *  and what that run was asked with; its address, the settings as they were left. */

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

  /** What the run of the entry was asked with, null where that is not known. @returns {Record<string, any>|null} */
  get asked() {
    return history.state?.asked ?? null;
  }

  /** @param {Record<string, any>} asked what the run of the entry was asked with */
  keeps(asked) {
    history.replaceState({ ...history.state, asked }, "");
  }

  /** A run is shown: a new entry, unless this one is its own or has had none. @param {string} run */
  shows(run) {
    if (run === this.run) return;
    const state = { ...history.state, hx: run, asked: null };
    if (this.still || !this.run) history.replaceState(state, "");
    else history.pushState(state, "");
  }
}
