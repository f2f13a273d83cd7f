"""How long the Planner's sliders take to answer in headless Chromium, beside the server: a measurement, not a test.

    python -m tests.measuring.slider_times [--turns 40] [--url http://127.0.0.1:7860]

Counted are the milliseconds from an input event to the numbers it led to: when they are in the page, and when the frame
with them was handed over for painting. Turns: one event on a slider at rest. Drag: an event every 16 ms, for two
seconds; of each answer that is shown, how long ago the slider was moved to the value it belongs to. Without --url the
app is started on a free port.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Sequence

from playwright.sync_api import Page

from tests.measuring.serving import chromium, served

SLIDERS = ("longest block", "rejections, all pairs", "cost of")  # of "What if"
BOUND_MS = 100.0  # what people take for "at once"
REST_MS, DRAG_MS, STEP_MS = 900, 2000, 16

# The latest answer read, by its question's values.
WATCH = """
const send = window.fetch;
window.fetch = async (...asked) => {
  const reply = await send(...asked);
  if (!String(asked[0]).includes("planner/answer")) return reply;
  const read = reply.json.bind(reply), { max_block, rejections, cost } = JSON.parse(asked[1].body);
  reply.json = async () => {
    const answer = await read();
    const factor = Math.log10(cost.factor);
    window.told = { "longest block": max_block, "rejections, all pairs": rejections, "cost of": factor };
    return answer;
  };
  return reply;
};
"""
TURN = """
async ([name, values, every, rest]) => {
  const slider = document.querySelector(`input[type=range][aria-label="${name}"]`);
  const key = (value) => Number(value).toFixed(6), times = new Map();
  const seen = new MutationObserver(() => {
    const time = times.get(key(window.told?.[name]));
    if (!time || time.shown) return;
    time.shown = performance.now();
    requestAnimationFrame(() => setTimeout(() => { time.painted = performance.now(); }));
  });
  seen.observe(document.querySelector(".hx-plan-answer"), { subtree: true, childList: true, characterData: true });
  for (const value of values) {
    slider.value = value;
    if (!times.has(key(slider.value))) times.set(key(slider.value), { turned: performance.now() });
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((done) => setTimeout(done, every));
  }
  await new Promise((done) => setTimeout(done, rest));
  seen.disconnect();
  const whole = [...times.values()].filter((time) => time.painted);
  return whole.map((time) => [time.shown - time.turned, time.painted - time.turned]);
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40, help="turns of each slider (default 40)")
    parser.add_argument("--url", default=None, help="a running app (default: one is started)")
    options = parser.parse_args()
    with served(options.url) as url, chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(WATCH)
        page.goto(f"{url}/?tab=planner&data=plans,whatif")
        page.locator(".hx-plan-figures dd").first.wait_for(timeout=60_000)
        page.wait_for_timeout(5000)
        print(f"{'':24}{'answers':>8}  {'numbers':^22}  {'painted':^22}")
        for name in SLIDERS:
            _line(f"{name}, turns", page.evaluate(TURN, [name, _spread(page, name, options.turns), REST_MS, 0]))
        for name in SLIDERS[1:]:  # the first has too few values
            steps = DRAG_MS // STEP_MS
            _line(f"{name}, drag", page.evaluate(TURN, [name, _spread(page, name, steps, 1), STEP_MS, REST_MS]))


def _spread(page: Page, name: str, count: int, stride: int = 7) -> list[float]:
    """Different values over the whole slider, `count` or as many as it has; neighbours lie `stride` places apart."""
    slider = page.get_by_role("slider", name=name)
    low, high, step = (float(slider.get_attribute(end) or 0) for end in ("min", "max", "step"))
    count = min(count, round((high - low) / step) + 1)
    stride = next(one for one in range(stride, count + stride) if math.gcd(one, count) == 1)
    return [low + (high - low) * (at * stride % count) / (count - 1) for at in range(count)]


def _line(what: str, times: Sequence[Sequence[float]]) -> None:
    shown, painted = zip(*times, strict=True)
    print(f"{what:30}{len(times):>4}  {_summary(shown):22}  {_summary(painted):22}")


def _summary(ms: Sequence[float]) -> str:
    ranked = sorted(ms)
    share = sum(one <= BOUND_MS for one in ms) / len(ms)
    return f"{statistics.median(ms):.0f} ms, 90 % {ranked[int(0.9 * (len(ms) - 1))]:.0f}, ≤ {BOUND_MS:.0f}: {share:.0%}"


if __name__ == "__main__":
    main()
