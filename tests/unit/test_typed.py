"""Types are read by one thread at a time: msgspec ends the process where two meet over one that neither has used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIRST_USES = """
import sys, threading
from msgspec import Raw, defstruct, json, msgpack
from hsd_core.typed import convert, decode, decode_message, json_decoder, message_decoder

sys.setswitchinterval(1e-6)
value = {f"part{k}": {f"field{j}": 1 for j in range(30)} for k in range(5)}
body, packed = json.encode(value), msgpack.encode(value)
uses = {
    "convert": lambda kind: convert(value, kind),
    "json_decoder": lambda kind: decode(body, json_decoder(kind)),
    "decode_message": lambda kind: decode_message(Raw(packed), kind),
    "message_decoder": lambda kind: message_decoder(kind).decode(packed),
}
for how in (*uses, "each another"):
    for number in range(60):
        leaf = defstruct(f"Leaf{number}", [(f"field{j}", int) for j in range(30)])
        kind = defstruct(f"Tree{number}", [(f"part{k}", leaf) for k in range(5)])
        gate = threading.Barrier(4)

        def use(make):
            gate.wait()
            assert make(kind).part4.field29 == 1

        makes = [uses[how]] * 4 if how in uses else list(uses.values())
        threads = [threading.Thread(target=use, args=(make,)) for make in makes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(how, flush=True)
"""


def test_threads_may_use_a_type_for_the_first_time_together() -> None:
    ended = subprocess.run([sys.executable, "-c", FIRST_USES], cwd=ROOT, capture_output=True, text=True, timeout=60)
    told = ["convert", "json_decoder", "decode_message", "message_decoder", "each another"]
    assert (ended.returncode, ended.stdout.splitlines()) == (0, told), ended.stderr


def test_nothing_else_of_ours_has_msgspec_read_types() -> None:
    reads = re.compile(r"msgspec\.(\w+\.)?(Decoder|decode|convert)\(|from msgspec import .*\b(convert|json|msgpack)\b")
    own = ROOT / "hsd_core" / "typed"
    files = [path for room in ("app", "hsd_core") for path in (ROOT / room).rglob("*.py") if own not in path.parents]
    assert len(files) > 400
    assert [str(path) for path in files if reads.search(path.read_text(encoding="utf-8"))] == []
