/** The small charts below the lanes, drawn up to the cursor: latency per round by level, tokens/s over time,
 *  acceptance per level, tokens per target forward. */

import { box, roundUp, set, svg } from "../kit/svg.js";
import { ofRun, stated } from "../levels/stated.js";
import { figure, ratio, rounded } from "../words/numbers.js";
import { element } from "../kit/dom.js";
import { plainSpeed } from "../run/figures.js";
import { upTo } from "../kit/order.js";
import { pictureButton } from "../kit/picture/button.js";
import { clockOf } from "../levels/overlap.js";
import { CHARTS, CLOCKS } from "../words/play/lanes.js";

const WIDTH = 240;
const HEIGHT = 52;
const BARS = 48;
const FINE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

export function create(host) {
  const el = host.appendChild(element("div", "hx-charts"));
  const panels = {
    latency: panel(el, CHARTS.latency, CHARTS.formulas.latency),
    speed: panel(el, CHARTS.speed, CHARTS.formulas.speed),
    yield: panel(el, CHARTS.yield, CHARTS.formulas.yield),
    acceptance: panel(el, CHARTS.acceptance, CHARTS.formulas.acceptance, true),
  };
  let drawn = "";
  return {
    el,
    update(model, cursor) {
      const shown = upTo(model.snapshots, cursor, (x) => x.t);
      const levels = model.levels.map((level) => model.figures.of(cursor, level.index));
      const signature = [model.version, shown, model.roundAt(cursor), ...levels.map((x) => x?.t)].join();
      if (signature === drawn && this.model === model) return;
      drawn = signature;
      this.model = model;
      const clock = CLOCKS[clockOf(model.header)]?.short;
      for (const { caption, title } of [panels.latency, panels.speed])
        caption.textContent = clock ? CHARTS.onClock(title, clock) : title;
      latency(panels.latency, model, cursor);
      speed(panels.speed, model, shown);
      perPass(panels.yield, model, shown);
      acceptance(panels.acceptance, model, levels);
    },
    destroy() {
      el.remove();
    },
  };
}

function panel(host, title, formula, list = false) {
  const el = host.appendChild(element("figure", "hx-chart"));
  const caption = el.appendChild(element("figcaption", "hx-chart-title", title));
  caption.tabIndex = 0;
  caption.dataset.formula = formula;
  caption.setAttribute("aria-description", formula);
  el.append(
    pictureButton(
      () => el,
      () => title,
    ),
  );
  const aside = el.appendChild(element("span", "hx-chart-aside"));
  const value = el.appendChild(element("p", "hx-chart-value"));
  const body = list
    ? el.appendChild(element("ul", "hx-gauges"))
    : svg(
        "svg",
        {
          class: "hx-chart-svg",
          viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
          preserveAspectRatio: "none",
          "aria-hidden": "true",
        },
        el,
      );
  return { el, caption, title, value, aside, body, paths: new Map() };
}

function say(panel, number, unit, aside = "") {
  const text = `${number}|${unit}|${aside}`;
  if (panel.said === text) return;
  panel.said = text;
  panel.value.replaceChildren(element("b", "", number), ` ${unit}`);
  panel.aside.textContent = aside;
}

function path(panel, key, className, hue = "") {
  if (!panel.paths.has(key)) {
    const node = svg("path", { class: className, "vector-effect": "non-scaling-stroke" }, panel.body);
    if (hue) node.style.setProperty("--hue", hue);
    panel.paths.set(key, node);
  }
  return panel.paths.get(key);
}

function latency(panel, model, cursor) {
  const done = lastRounds(model, cursor);
  const key = model.levels.map((x) => x.hue).join();
  if (panel.key !== key) {
    panel.key = key;
    panel.paths.clear();
    panel.body.replaceChildren();
  }
  const sum = (r) => r.byLevel.reduce((x, y) => x + (y || 0), 0);
  const top = roundUp(Math.max(1, ...done.map(sum)), FINE);
  const step = WIDTH / Math.max(16, done.length);
  const data = model.levels.map(() => "");
  done.forEach((r, i) => {
    let y = HEIGHT;
    const x = WIDTH - (done.length - i) * step;
    model.levels.forEach((_, level) => {
      const h = ((r.byLevel[level] || 0) / top) * HEIGHT;
      if (h < 0.05) return;
      y -= h;
      data[level] += box(x, x + step * 0.82, y.toFixed(2), h.toFixed(2));
    });
  });
  model.levels.forEach((level, i) => set(path(panel, i, "hx-chart-bar", level.hue), { d: data[i] }));
  const last = done[done.length - 1];
  say(panel, last ? figure(sum(last) / 1e6) : "\u2013", "ms", last ? `0\u2013${figure(top / 1e6)}\u00a0ms` : "");
}

/** The last rounds that were over and had committed something, as many as there are bars. */
function lastRounds({ rounds }, cursor) {
  const found = [];
  for (let i = upTo(rounds, cursor, (r) => r.t0) - 1; i >= 0 && found.length < BARS; i--)
    if (rounds[i].tokens > 0 && rounds[i].t1 <= cursor) found.push(rounds[i]);
  return found.reverse();
}

/** `shown`: how many snapshots the cursor has passed. */
function speed(panel, { snapshots, baseline }, shown) {
  const last = snapshots[shown - 1];
  const now = last?.tokens_per_s ?? null;
  const plain = plainSpeed(baseline);
  const stride = Math.ceil(shown / (2 * WIDTH)) || 1; // more points than pixels would only take time
  const past = [];
  for (let i = 0; i < shown - 1; i += stride) past.push(snapshots[i]);
  if (last) past.push(last);
  const values = past.map((s) => s.tokens_per_s ?? 0);
  const top = Math.max(1e-9, ...values.slice(Math.min(2, values.length - 1)), plain ?? 0) * 1.12;
  const start = past[0]?.t ?? 0;
  const span = Math.max(1, (last?.t ?? 1) - start);
  const points = past.map((s, i) => [
    ((s.t - start) / span) * WIDTH,
    HEIGHT - (Math.min(values[i], top) / top) * (HEIGHT - 2),
  ]);
  set(path(panel, "area", "hx-chart-area"), {
    d: points.length > 1 ? `${line(points)}L${WIDTH} ${HEIGHT}L${points[0][0].toFixed(1)} ${HEIGHT}z` : "",
  });
  set(path(panel, "line", "hx-chart-line"), { d: points.length > 1 ? line(points) : "" });
  set(path(panel, "plain", "hx-chart-plain"), {
    d: plain ? `M0 ${(HEIGHT - (plain / top) * (HEIGHT - 2)).toFixed(1)}H${WIDTH}` : "",
  });
  say(panel, now === null ? "\u2013" : rounded(now), CHARTS.rate, plain ? CHARTS.plain(rounded(plain)) : "");
}

function perPass(panel, model, shown) {
  const { snapshots } = model;
  const last = snapshots[shown - 1];
  const first = Math.max(0, shown - BARS);
  const past = snapshots.slice(first, shown);
  const values = past.map((s, i) => s.committed - (snapshots[first + i - 1]?.committed ?? 0));
  const top = Math.max(4, ...values);
  const step = WIDTH / Math.max(16, values.length);
  const bars = values.map((n, i) =>
    box(
      WIDTH - (values.length - i) * step,
      WIDTH - (values.length - i) * step + step * 0.82,
      (HEIGHT - (n / top) * HEIGHT).toFixed(2),
      ((n / top) * HEIGHT).toFixed(2),
    ),
  );
  set(path(panel, "bars", "hx-chart-bar", "var(--hue-target)"), { d: bars.join("") });
  if (last?.tokens_per_target_forward && shown === snapshots.length && model.footer)
    stated("per_forward", ofRun(model.header), ratio(last.tokens_per_target_forward));
  say(
    panel,
    last?.tokens_per_target_forward ? ratio(last.tokens_per_target_forward) : "\u2013",
    CHARTS.mean,
    past.length ? `0\u2013${top}` : "",
  );
}

function acceptance(panel, model, levels) {
  const verifiers = [...model.levels].reverse().filter((x) => x.index > 0);
  const key = verifiers.map((x) => x.tag + x.name).join();
  if (panel.key !== key) {
    panel.key = key;
    panel.body.replaceChildren(...verifiers.map(gauge));
    if (!verifiers.length) panel.body.append(element("li", "hx-gauge-none", CHARTS.oneLevel));
  }
  verifiers.forEach((level, i) => {
    const item = panel.body.children[i];
    const mine = levels[level.index];
    const value = mine?.acceptance ?? null;
    item.style.setProperty("--value", String(value ?? 0));
    const text = value === null ? "\u2013" : value.toFixed(2);
    if (item.lastChild.textContent !== text) item.lastChild.textContent = text;
    item.title = mine?.judged ? CHARTS.gaugeTip(level.name, mine.accepted, mine.judged) : level.name;
  });
}

function gauge(level) {
  const item = element("li", "hx-gauge");
  const tag = element("span", "hx-badge", level.tag);
  tag.dataset.line = level.underline;
  item.style.setProperty("--hue", level.hue);
  item.append(tag, element("span", "hx-gauge-bar"), element("span", "hx-gauge-value", "\u2013"));
  return item;
}

const line = (points) => `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
