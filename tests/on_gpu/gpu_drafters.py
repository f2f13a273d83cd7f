"""Drafters in the formats in which they are published, over tiny models with random weights, on the GPU.

Each writes what plain decoding writes, and leaves a run that the page opens. They draft badly, so their speed says
nothing. Medusa's public heads are pickles, which are not opened: the shipped ones are among the tests.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import transformers

from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset
from hsd_core.trace import file
from hsd_core.trace.checks import check
from hsd_core.trace.comparison import differing
from tests import families
from tests.systems.eagle3 import eagle3_checkpoints
from tests.systems.mtp import mtp_checkpoints

PROMPT, TOKENS, WIDTH, DEPTHS = "Levels above", 16, 64, (2, 3, 5)
SHAPES = ("", "@tree=2.2.1", "@grow=6")


def drafters(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """What each is called, its target, and its level but for its shape."""
    target = families.save(folder / "target", "qwen3", layers=6)
    for writer in eagle3_checkpoints.WRITERS:
        sizes = {"vocab": families.VOCABULARY, "width": WIDTH, "ids": range(0, families.VOCABULARY, 2)}
        drafter = eagle3_checkpoints.written(folder / writer, writer, depths=DEPTHS, **sizes)
        yield f"eagle3-{writer}", target, f"eagle3:3{{}}@id={drafter}"
    if hasattr(transformers, "MuseGlimmerAssistantModel"):
        from tests.systems.dflash.dflash_checkpoints import written

        drafter, _ = written(folder / "dflash", vocab=families.VOCABULARY, width=WIDTH)
        yield "dflash", target, f"dflash:3{{}}@id={drafter}"
    heads = mtp_checkpoints.head_weights("mimo", width=WIDTH, layers=4, size=16, bias=True)
    mimo = families.save(folder / "mimo", "qwen2")
    told = {"model_type": "mimo", "architectures": ["MiMoForCausalLM"]}
    yield "mtp-mimo", mtp_checkpoints.with_heads(mimo, heads, **told), "mtp:3{}"


def main() -> int:
    """0 if all texts are plain decoding's."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    out, wrong = parser.parse_args().out, 0
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as there:
        for name, target, level in drafters(Path(there)):
            pipeline = Pipeline.open(target_preset(str(target)), stack="target", device="cuda", dtype="float32")
            for shape in SHAPES:
                stack = f"{level.format(shape)},target"
                run = list(pipeline.run(stack, PROMPT, max_new_tokens=TOKENS, baseline=True, title=f"{name}{shape}"))
                same, faults = differing(run), check(run)
                bad = faults or (same is not None and not same.holds)
                print(f"{name}{shape}: {faults or same or 'plain decoding’s text'}")
                wrong += bool(bad)
                file.write(out / f"{name}{shape.replace('=', '-')}.jsonl.gz", run)
    return wrong and 1


if __name__ == "__main__":
    sys.exit(main())
