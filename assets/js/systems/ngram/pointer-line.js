/** The line from an entry that was found to its place in the text, over both panels; none where the place is out of sight. */

const SPACE = "http://www.w3.org/2000/svg";

/** @param {HTMLElement} stage */
export function createLink(stage) {
  const svg = document.createElementNS(SPACE, "svg");
  const path = document.createElementNS(SPACE, "path");
  svg.setAttribute("class", "hx-db-link");
  svg.setAttribute("aria-hidden", "true");
  svg.append(path);
  stage.append(svg);
  /** @type {Element|null} */ let from = null;
  /** @type {number|null} */ let serial = null;
  let frame = 0;

  const target = () => (serial === null ? null : stage.querySelector(`.hx-flow [data-serial="${serial}"]`));

  function draw() {
    frame = 0;
    const to = from && target();
    const [a, b] = [from?.getBoundingClientRect(), to?.getBoundingClientRect()];
    const room = to?.closest(".hx-text")?.getBoundingClientRect();
    const seen = a && b && room && a.width > 0 && b.width > 0 && b.bottom > room.top && b.top < room.bottom;
    const clear = seen && b.bottom <= a.top; // on a phone the view covers the text
    svg.toggleAttribute("data-shown", Boolean(clear));
    if (!clear || !a || !b) return;
    const [x1, y1, x2, y2] = [a.left + 0.45 * a.width, a.top, b.left + b.width / 2, b.bottom + 2];
    const bend = Math.max(16, (y1 - y2) / 2);
    path.setAttribute("d", `M${x1} ${y1}C${x1} ${y1 - bend} ${x2} ${y2 + bend} ${x2} ${y2}`);
  }
  const later = () => {
    frame ||= requestAnimationFrame(draw);
  };
  stage.addEventListener("scroll", () => from && later(), { capture: true, passive: true });
  addEventListener("resize", () => from && later());
  addEventListener("scroll", () => from && later(), { passive: true });

  return {
    target,
    /** @param {Element|null} element @param {number|null} to the serial of a token of the text */
    join(element, to) {
      from = to === null ? null : element;
      serial = to;
      later();
    },
  };
}
