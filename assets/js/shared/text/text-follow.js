/** Where the text is scrolled to: its end, which is the cursor, stays in sight until somebody scrolls away from it, and
 *  comes back whenever the cursor is moved to another place. */

const NOWHERE = -1;
const NEAR = 8; // px from the end that still count as the end

export class TextFollow {
  /** @param {HTMLElement} el what scrolls @param {HTMLElement} flow the text in it @param {AbortSignal} signal */
  constructor(el, flow, signal) {
    this.el = el;
    this.sunk = 0; // where it was last scrolled to while its end was in sight
    this.moves = 0; // of the cursor, up to the last drawing
    this.due = false; // whether the next drawing goes to the end
    this._set(true);
    // Asked for here, as every question in a drawing would lay it out.
    el.addEventListener("scroll", () => this._scrolled(), { signal });
    // A paragraph has a guessed height until it is in sight: the end moves once more when it is.
    const sizes = new ResizeObserver(() => this.settle());
    for (const one of [el, flow]) sizes.observe(one);
    signal.addEventListener("abort", () => sizes.disconnect());
  }

  /** Another run: its end is in sight. */
  clear() {
    this.sunk = 0;
    this._set(true);
  }

  /** How often the cursor was moved by hand: once more brings it into sight. @param {number} moves */
  moved(moves) {
    if (moves === this.moves) return;
    this.moves = moves;
    this.due = true;
  }

  /** Goes on to the text's end if that was in sight. Called when all else is drawn: it asks how high the text is. */
  settle() {
    // What was scrolled a moment ago has its event still to come, and must not be taken back.
    if (!this.due && !(this.low && this._low())) return;
    this.due = false;
    this._set(true);
    this.el.scrollTop = this.el.scrollHeight;
    this.sunk = this.el.scrollTop;
  }

  /** Brings a token into sight, a third below the top. @param {HTMLElement} node */
  bring(node) {
    const { el } = this;
    el.classList.add("hx-exact"); // no guessed heights, until a frame has seen the true ones
    const [token, room] = [node, el].map((x) => x.getBoundingClientRect());
    el.scrollTop += token.top - room.top - room.height / 3;
    this.sunk = NOWHERE;
    this._scrolled();
    requestAnimationFrame(() => requestAnimationFrame(() => el.classList.remove("hx-exact")));
  }

  _scrolled() {
    this._set(this._low());
    if (this.low) this.sunk = this.el.scrollTop;
  }

  /** Whether the text's end is in sight, or was when nobody has scrolled since. */
  _low() {
    const { scrollTop, scrollHeight, clientHeight } = this.el;
    return scrollTop === this.sunk || scrollHeight - scrollTop - clientHeight < NEAR;
  }

  /** @param {boolean} low */
  _set(low) {
    if (this.low === low) return;
    this.low = low;
    this.el.classList.toggle("hx-low", low); // what keeps a reader's place would keep it from its end
  }
}
