// Who accepted a token and who rejected one: the page and the terminal say the same of every recording.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { acceptedBy } from "../../../assets/js/shared/text/token/token.js";
import { modelOf, PYTHON, recorded } from "./build.mjs";

const root = new URL("../../../", import.meta.url);
const SAYS = `
import json, sys
from hsd_core.core.events import Commit
from hsd_core.trace import file
from hsd_core.trace.conventions import accepted_by, ghosts
said = {}
for name in json.load(sys.stdin):
    events = file.read(f"assets/traces/{name}.jsonl.gz")
    top = len(events[0].levels) - 1
    tokens = [token for event in events if isinstance(event, Commit) for token in event.tokens]
    said[name] = {"by": [accepted_by(x, top) for x in tokens], "ghosts": sorted([g.at, g.serial, g.level] for g in ghosts(events))}
print(json.dumps(said))
`;
const names = ["01-code", "06-chat-sampled", "09-four-levels", "12-hispec", "18-auto", "22-guesses", "26-tree-sampled"];
const said = JSON.parse(execFileSync(PYTHON, ["-c", SAYS], { cwd: root, input: JSON.stringify(names) }).toString());

for (const name of names)
  test(`${name}: by whom each token was accepted, and rejected`, () => {
    const model = modelOf(recorded(name));
    const top = model.levels.length - 1;
    const by = model.committed.map((serial) => acceptedBy(model.tokens.get(serial), top, Infinity));
    assert.deepEqual(by, said[name].by);
    const ghosts = model.ghostsFrom(Infinity, 0).map(([at, record]) => [at, record.serial, record.goneBy]);
    assert.deepEqual(
      ghosts.sort((a, b) => a[0] - b[0] || a[1] - b[1]),
      said[name].ghosts,
    );
  });
