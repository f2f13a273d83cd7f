// Claims about what is said of lanes. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { usedText } from "../../assets/js/shared/lanes/lane-words.js";

const figures = { target: 0.9, below: 0.5, both: 0.4, gain: 1.4, dropped: 3, waste: 0.1 };

test("of several lanes below the target each is named with its own share, the highest first", () => {
  const levels = [{ name: "ngram" }, { name: "nano" }, { name: "target" }];
  const model = { header: { reckoned: true, levels: [{ lane: 0 }, { lane: 1 }, { lane: 2 }] }, levels };
  const said = usedText({ ...figures, lanes: [0.25, 0.5, 0.9] }, model);
  assert.match(said, /nano 50.%, ngram 25.%, two or more at once 40.%; overlap gain 1\.40; 3 drafted tokens dropped/);
  assert.match(usedText(figures, model), /target at work 90.% of the time, levels below it 50.%, both at once 40.%/);
  assert.equal(usedText(null, model), "");
});
