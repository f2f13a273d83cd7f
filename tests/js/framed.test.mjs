// Claims about a frame that follows the page's height: how high a screen is there, and what is seen. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { seenOf } from "../../assets/js/shared/share/framed.js";

const around = (clientHeight, offsetTop, scrollTop) => ({ clientHeight, offsetTop, scrollTop });

test("a screen is the window around, less a bar above the frame; never the frame's height", () => {
  for (const height of [300, 900, 5000]) {
    assert.equal(seenOf(around(900, 60, 0), height).screen, 840);
    assert.equal(seenOf(around(900, 3000, 0), height).screen, 900, "a frame far down in an article");
    assert.equal(seenOf(around(400, 60, 0), height).screen, 640);
    assert.equal(seenOf(around(4000, 60, 0), height).screen, 1200);
  }
});

test("what is scrolled away lies above, what the window does not reach lies below", () => {
  assert.deepEqual(seenOf(around(900, 60, 0), 2000), { screen: 840, above: 0, below: 1160 });
  assert.deepEqual(seenOf(around(900, 60, 560), 2000), { screen: 840, above: 500, below: 600 });
  assert.deepEqual(seenOf(around(900, 60, 1160), 2000), { screen: 840, above: 1100, below: 0 });
});

test("a screen's worth of the frame is left wherever the page around is scrolled", () => {
  for (const scrollTop of [0, 5000, 50_000]) {
    const { screen, above, below } = seenOf(around(900, 3000, scrollTop), 2000);
    assert.ok(above <= 2000 - screen && below <= 2000 - screen, `${above} above, ${below} below`);
  }
  assert.deepEqual(seenOf(around(900, 60, 0), 480), { screen: 840, above: 0, below: 0 });
});
