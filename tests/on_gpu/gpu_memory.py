"""What stacks take of a GPU's memory: what was said before the run, and what the device held at most."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from hsd_core.measure.rawfile import ran_on
from hsd_core.models.machine import describe
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import preset_chosen

PROMPT, TOKENS = "Write one sentence about the sea.", 32
CAPACITY = 512


def measure(pipeline: Pipeline, stack: str) -> dict[str, object]:
    """Bytes: of a run over `CAPACITY` tokens as `Pipeline.memory` says, and held in all, at most and behind it."""
    said = pipeline.memory(stack, CAPACITY)
    torch.cuda.reset_peak_memory_stats()
    for _ in pipeline.run(stack, PROMPT, max_new_tokens=TOKENS, heads=0):
        pass
    return {
        "stack": stack,
        "said": {"weights": said.weights, "kept": said.kept, "at_work": said.at_work},
        "peak": torch.cuda.max_memory_allocated(),
        "behind": torch.cuda.memory_allocated(),
        "reserved": torch.cuda.memory_reserved(),
    }


def main() -> None:
    """Write a JSON object with a row a stack."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="smollm2")
    parser.add_argument("--target")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    pipeline = Pipeline.open(preset_chosen(options.preset, target=options.target), device="cuda")
    stacks = dict.fromkeys(("target", pipeline.default_stack))
    about = {"machine": describe(pipeline.device), "dtype": pipeline.dtype, **ran_on(pipeline.device)}
    found = {**about, "capacity": CAPACITY, "stacks": [measure(pipeline, stack) for stack in stacks]}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for row in found["stacks"]:
        print(row)


if __name__ == "__main__":
    main()
