"""`python -m tests.on_gpu --out DIR`: see the package."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.on_gpu.gpu_steps import TOTAL_S, Asked, named, steps
from tests.on_gpu.kept_steps import DONE, PACKED, SUMMARY, land, run_steps
from tests.on_gpu.wheels_beside import found_beside

NEEDED = ("torch", "transformers", "tokenizers", "safetensors", "gguf", "msgspec", "plotly", "pytest", "pytest_timeout")
ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """0 where every step has ended well; 1 where one has not."""
    parser = argparse.ArgumentParser(prog="python -m tests.on_gpu", description=__doc__)
    parser.add_argument("--out", type=Path, metavar="DIR", help="what is kept; a second call goes on there")
    parser.add_argument(
        "--land", type=Path, metavar="DIR", help=f"copy results into this repository: a DIR or {PACKED}"
    )
    parser.add_argument("--again", action="append", default=[], metavar="STEP", help="run this step again")
    parser.add_argument("--seconds", type=float, default=TOTAL_S, help=f"of this call (default {TOTAL_S:.0f})")
    parser.add_argument("--preset", default="smollm2")
    parser.add_argument("--target", metavar="FOLDER", help="instead of the preset's")
    parser.add_argument("--wheels", type=Path, metavar="FOLDER", help="what pip would have downloaded")
    parser.add_argument("--few", action="store_true", help="as little of everything as shows that it works")
    parser.add_argument("--pretend", action="store_true", help="over a GPU that is none: nothing is measured")
    options = parser.parse_args()
    if (options.out is None) == (options.land is None):
        parser.error("give --out DIR to measure, or --land DIR to copy what was measured")
    if options.land:
        for path in land(options.land.resolve(), ROOT):
            print(path.relative_to(ROOT))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the step in progress ends with this process
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        print(f"not installed: {', '.join(missing)}; install requirements.txt and pytest first", file=sys.stderr)
        return 2
    if options.wheels:
        os.environ |= found_beside(options.wheels.resolve(), out)
    machine = _machine(options.pretend)
    if machine is None:
        print("no CUDA device was found; run this where one is, or with --pretend", file=sys.stderr)
        return 2
    target = None
    if options.target:  # the tests read it too
        target = os.environ["HSD_GPU_TARGET"] = str(Path(options.target).resolve())
    asked = Asked(out, machine, options.preset, target, options.pretend, options.few)
    found = steps(asked)
    if unknown := list(named(found, options.again)):
        parser.error(f"there is no step {unknown[0]!r}; steps are {', '.join(step.name for step in found)}")
    ran = run_steps(found, out, seconds=options.seconds, again=options.again)
    print((out / SUMMARY).read_text(encoding="utf-8"))
    return 0 if all(record["ended"] == DONE for record in ran) else 1


def _machine(pretended: bool) -> str | None:
    """The GPU's name as a part of file names; None where there is none."""
    import torch

    if pretended:
        from tests.pretend_gpu import NAME

        return _part(NAME)
    return _part(torch.cuda.get_device_name()) if torch.cuda.is_available() else None


def _part(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


if __name__ == "__main__":
    sys.exit(main())
