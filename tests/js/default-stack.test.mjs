// Claims about what is said of a default stack, and about addresses that hold it. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { inBrief, plannedFrom, promised } from "../../assets/js/shared/levels/default-said.js";
import { Wish } from "../../assets/js/shared/visit/wish.js";

const known = (source, about = {}, promise = null) => ({ stack: "ngram:4,int8:7,target", source, about, promise });

test("why it is that stack is one sentence, and it names the machine and the day", () => {
  const about = { machine: "AMD EPYC, 2 cores", recorded: "2026-11-23" };
  assert.match(
    plannedFrom(known("shipped", about)),
    /the machine most like this one: AMD EPYC, 2 cores, 2026-11-23\.$/,
  );
  assert.match(
    plannedFrom(known("measured", about)),
    /the fastest .* in the calibration of this machine, 2026-11-23\.$/,
  );
  assert.match(plannedFrom(known("measured", { ...about, effort: "quick" })), /20-second calibration of this machine/);
  assert.match(plannedFrom(known("preset")), /no profile of its levels/);
  assert.match(plannedFrom(known("pinned")), /told to keep them/);
});

test("a promise has its range where the theory has one", () => {
  const two = { stack: "int8:6,target", speedup: 1.52 };
  const said = promised(known("shipped", {}, { speedup: 1.715, two, gain: 1.13, interval: [1.094, 1.17] }));
  assert.equal(said, "Predicted: 1.72\u00d7 the model alone and 1.13\u00d7 (1.09 to 1.17) the best two levels.");
  const bare = promised(known("shipped", {}, { speedup: 1.715, two, gain: 1.13, interval: null }));
  assert.equal(bare, "Predicted: 1.72\u00d7 the model alone and 1.13\u00d7 the best two levels.");
  assert.equal(
    promised(known("shipped", {}, { speedup: 1.2, two: null, gain: null, interval: null })).includes("two"),
    false,
  );
  assert.equal(promised(known("preset")), "");
  const brief = inBrief(known("shipped", {}, { speedup: 1.715, two, gain: 1.13, interval: [1.094, 1.17] }));
  assert.match(brief, /nearest to this machine; predicted 1\.13\u00d7 \(1\.09 to 1\.17\) the best two levels\.$/);
  assert.match(inBrief(known("preset")), /no profile of its levels is known\.$/);
});

test("an address that says anything of a run says its stack, for the default elsewhere may be another", () => {
  const stack = "ngram:4,int8:7,target";
  const setup = {
    limits: { prompt: 900, temperature: [0, 2], top_k: [0, 9], top_p: [0, 1], seed: [0, 9], max_new_tokens: [1, 99] },
    defaults: { seed: 0 },
    catalogue: [{ name: "smollm2", usable: true, default_stack: stack }],
  };
  const wish = new Wish(setup, () => ({ stack, madeUp: false }));
  globalThis.location = { search: "", pathname: "/", hash: "" };
  globalThis.history = { state: null, replaceState: (_, __, url) => (location.search = url.slice(1)) };
  const written = () => new URLSearchParams(location.search);
  Object.assign(wish.settings, { stack });
  wish.write();
  assert.equal(location.search, "", "nothing was asked for: a bare address is the default of whoever opens it");
  wish.settings.colour = "passed";
  wish.write();
  assert.equal(written().get("stack"), null, "how a run is shown says nothing of the next one");
  wish.settings.seed = 7;
  wish.write();
  assert.equal(written().get("stack"), stack);
});
