/** Sentences: what the title bar and the progress note say. */

import { unknownKinds } from "../../shared/levels/kinds.js";
import { clockOf } from "../../shared/levels/overlap.js";
import { differing } from "../../shared/levels/greedy.js";
import { CLOCKS } from "../../../text/en/lanes.js";
import { STATUS } from "../../../text/en/run.js";

/** The title bar's badge: live or recorded, which weights, on which device, in which dtype; `law`, exact or
 *  lossy; "" where plain decoding beside it wrote another text, which the text says then. */
export function describe(model, status, session, ready = true) {
  const header = model?.header;
  if (!header) {
    return session.pending
      ? { mode: "loading", text: STATUS.preparing, tip: "" }
      : {
          mode: "idle",
          text: STATUS.none,
          tip: ready ? STATUS.start : STATUS.choose,
        };
  }
  if (header.simulated) return made(header, session);
  const top = header.levels.at(-1);
  const running = session.pending && session.started && !model.footer;
  const mode = status.mode === "recorded" ? "recorded" : status.mode === "error" ? "error" : "live";
  const live = running ? STATUS.live : model.footer?.reason === "stopped" ? STATUS.liveStopped : STATUS.liveDone;
  const state = mode === "live" ? live : mode === "error" ? STATUS.interrupted : STATUS.recorded;
  const where = `${STATUS.places[top.device?.split(":")[0]] ?? top.device} ${top.dtype}`;
  const clock = CLOCKS[clockOf(header)];
  const unknown = unknownKinds(header);
  const lacks = unknown.length > 0 && STATUS.unknown(unknown);
  const parts = [state, lacks, clock?.short, weights(header), where, header.replan && STATUS.auto].filter(Boolean);
  const differs = header.lossless && differing(model);
  const lawTip = header.lossless ? STATUS.exactTip : STATUS.lossyTip;
  const tip = [
    status.text && `${status.text}.`,
    lacks && STATUS.unknownTip,
    differs ? STATUS.differsTip(model.baseline.margin) : lawTip(header.lossless_reason),
    clock?.said,
    source(top),
    header.replan && STATUS.autoTip,
    header.machine && STATUS.machine(header.machine),
  ]
    .filter(Boolean)
    .join(" ");
  return {
    mode: session.pending && !session.started ? "loading" : mode,
    text: `${parts.join(" · ")} · ${differs ? STATUS.differs(model.baseline.equal) : ""}`,
    law: differs ? "" : header.lossless ? "exact" : "lossy",
    tip,
  };
}

/** The badge of a run in which no model ran. */
function made(header, session) {
  const levels = STATUS.levels(header.levels.length);
  return {
    mode: session.pending && !session.started ? "loading" : "simulated",
    text: [STATUS.simulated, weights(header), levels].join(" · "),
    tip: STATUS.simulatedTip(header.simulated),
  };
}

const weights = (header) => header.levels.at(-1).label || header.preset || STATUS.target;
const source = (level) =>
  level.weights?.source ? STATUS.weights([level.weights.source, level.weights.note].filter(Boolean).join("; ")) : "";

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
