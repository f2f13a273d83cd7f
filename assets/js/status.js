/** Sentences: what the title bar, the progress note and the spoken line say. */

const PLACES = { cpu: "CPU", cuda: "GPU" };

/** The title bar's badge: live or recorded, which weights, on which device, in which dtype, exact or lossy. */
export function describe(model, status, session, ready = true) {
  const header = model?.header;
  if (!header) {
    return session.pending
      ? { mode: "loading", text: "preparing the run", tip: "" }
      : {
          mode: "idle",
          text: "no run yet",
          tip: ready ? "Choose a recording, or press Generate." : "Choose a recording.",
        };
  }
  if (header.simulated) return made(header, session);
  const top = header.levels.at(-1);
  const running = session.pending && session.started && !model.footer;
  const mode = status.mode === "recorded" ? "recorded" : status.mode === "error" ? "error" : "live";
  const live = running ? "live" : model.footer?.reason === "stopped" ? "live, stopped" : "live, done";
  const state = mode === "live" ? live : mode === "error" ? "interrupted" : "recorded";
  const where = `${PLACES[top.device?.split(":")[0]] ?? top.device} ${top.dtype}`;
  const parts = [state, weights(header), where, header.lossless ? "exact" : "lossy", header.replan && "auto"].filter(
    Boolean,
  );
  const tip = [
    status.text && `${status.text}.`,
    header.lossless ? `Exact: ${header.lossless_reason}.` : `Lossy: ${header.lossless_reason}.`,
    source(top),
    header.replan && "Auto: levels and block lengths are chosen anew between rounds.",
    header.machine && `Machine: ${header.machine}.`,
  ]
    .filter(Boolean)
    .join(" ");
  return { mode: session.pending && !session.started ? "loading" : mode, text: parts.join(" · "), tip };
}

/** The badge of a run in which no model ran. */
function made(header, session) {
  const levels = header.levels.length === 1 ? "1 level" : `${header.levels.length} levels`;
  return {
    mode: session.pending && !session.started ? "loading" : "simulated",
    text: ["simulated: no model ran", weights(header), levels].join(" · "),
    tip: `Simulated: ${header.simulated}. The engine, its rule and every event are the real ones.`,
  };
}

const weights = (header) => header.levels.at(-1).label || header.preset || "target";
const source = (level) =>
  level.weights?.source ? `Weights: ${[level.weights.source, level.weights.note].filter(Boolean).join("; ")}.` : "";

/** Loading: what is happening, how far, and what one can do meanwhile. */
export function progressText(status) {
  const share = status.share ? `, ${Math.round(100 * status.share)} %` : "";
  return {
    mode: status.mode,
    text: `${status.text}${share}`,
    detail: status.detail || "",
    share: status.share ?? null,
    waited: status.waited ?? 0,
  };
}

/** The polite line for screen readers: a summary, never the tokens. */
export function spoken(model, status) {
  if (!model?.header) return "";
  const s = model.snapshots.at(-1);
  const speed = s?.tokens_per_s ? `, ${s.tokens_per_s.toFixed(0)} tokens per second` : "";
  const kept = s?.drafts_kept == null ? "" : `, ${Math.round(100 * s.drafts_kept)} percent of drafts kept`;
  const plan = model.plans.at(-1);
  return `${status?.text ?? ""}: ${model.committed.length} tokens${speed}${kept}${plan ? `, plan ${plan.stack}` : ""}.`;
}
