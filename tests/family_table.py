"""The table of families: `python -m tests.family_table --out assets/results/families`.

For each family a tiny model with random weights is written by transformers, opened as any target is, and run. What
stands in the table is what came of that: the largest difference of its logits from transformers' own, and which stacks
over it wrote what plain decoding writes. Families that are refused stand there with the reason.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from families import CONFIGS, LAYERED, save  # noqa: E402
from toys import output_of  # noqa: E402

from hsd_core.models import machine  # noqa: E402
from hsd_core.models.loading import load_decoder  # noqa: E402
from hsd_core.models.one_pass import Pass  # noqa: E402
from hsd_core.pipeline import Pipeline  # noqa: E402
from hsd_core.stacks.targets import target_preset  # noqa: E402

IDS = [1, 40, 41, 42, 9, 200, 77, 140]
PROMPT, TOKENS = "The small level drafts", 12
DECODERS = {"CompiledDecoder": "compiled", "LeanDecoder": "torch", "TransformersDecoder": "transformers"}
OVER_ALL = {
    "lookups": ("ngram:3,target", "lookahead:3,target"),
    "drafts": ("model:3,target",),
    "trees": ("model:2@tree=2.2,target",),
    "three levels": ("ngram:2,model:3,target",),
}
OVER_LAYERS = {
    "exits": tuple(f"exit:2@at={at}@id=lens,target" for at in (1, 2, 3)),
    "trees": ("exit:2@at=2@id=lens@tree=2.2,target", "model:2@tree=2.2,target"),
    "copies": ("int8:3,target", "int4:3,target"),
    "three levels": ("ngram:2,exit:2@at=2@id=lens,target", "exit:2@at=1@id=lens,exit:3@at=2@id=lens,target"),
}
WHAT = ("lookups", "drafts", "exits", "trees", "copies", "three levels")
FEW = {"three levels": OVER_LAYERS["three levels"]}  # what a quick look at one row runs
HOW = "python -m tests.family_table --out assets/results/families"


def row(folder: Path, family: str, small: Path, stacks: dict[str, tuple[str, ...]] | None = None) -> dict[str, Any]:
    """What comes of a family in `folder`, where it was saved, with `small` to draft for it.

    Args:
        stacks: to be compared with plain decoding, by what they show; all that can be built over it by default.
    """
    found: dict[str, Any] = {"family": family, "config": CONFIGS[family][0]}
    preset = target_preset(str(folder), str(small))
    if preset.refused:
        return {**found, "refused": preset.refused.replace(f"{folder}", "FOLDER")}
    try:
        pipeline = Pipeline.open(preset, stack="target", device="cpu")
        decoder = pipeline.entries("target")[0].level.decoder  # type: ignore[attr-defined]
    except ValueError as error:
        return {**found, "refused": str(error).replace(f"{folder}", "FOLDER")}
    expected = logits(folder)
    kinds = ("compiled", "lean") if family in LAYERED else ("auto",)
    apart = max(float((rows(folder, kind) - expected).abs().max()) for kind in kinds)
    found |= {"decoder": DECODERS[type(decoder).__name__], "apart": apart, "largest": float(expected.abs().max())}
    plain = output_of(list(pipeline.run("target", PROMPT, max_new_tokens=TOKENS)))
    stacks = stacks or {**OVER_ALL, **({} if preset.whole else OVER_LAYERS)}
    equal = {
        what: [stack for stack in some if output_of(list(pipeline.run(stack, PROMPT, max_new_tokens=TOKENS))) == plain]
        for what, some in stacks.items()
    }
    return {**found, "tokens": len(plain), "equal": equal, "of": {what: len(some) for what, some in stacks.items()}}


def logits(folder: Path) -> torch.Tensor:
    """What transformers finds, (n, V)."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        return model(torch.tensor([IDS])).logits[0]


def rows(folder: Path, kind: str) -> torch.Tensor:
    """What a decoder of ours finds, in two passes, (n, V)."""
    decoder = load_decoder(folder, kind=kind)
    cache = decoder.new_cache(len(IDS))
    return torch.cat([decoder.forward(Pass(IDS[:5], 0, 5), cache), decoder.forward(Pass(IDS[5:], 5, 3), cache)])


def table(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Lines of Markdown."""
    yield f"| family | runs | logits differ by | {' | '.join(WHAT)} |"
    yield "|---|---|---|" + "---|" * len(WHAT)
    found = list(rows)
    for one in found:
        if "refused" in one:
            continue
        apart = f"{one['apart']:.1e} of {one['largest']:.0f}"
        cells = [_cell(one, what) for what in WHAT]
        yield f"| {one['family']} | {one['decoder']} | {apart} | {' | '.join(cells)} |"
    yield ""
    yield "| refused | why |"
    yield "|---|---|"
    for one in found:
        if "refused" in one:
            yield f"| {one['family']} | {one['refused']} |"


def _cell(one: dict[str, Any], what: str) -> str:
    of = one["of"].get(what)
    return "no" if of is None else "equal" if len(one["equal"][what]) == of else f"{len(one['equal'][what])} of {of}"


def page(rows: list[dict[str, Any]], about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return "\n".join(
        [
            "# Families of models, and what can be built over them",
            "",
            "Each family is a tiny model of four layers with random weights (`tests/families.py`), written by "
            "transformers' `save_pretrained`, opened as any target is (`--target FOLDER`) and run in float32. "
            f"`{HOW}` makes this file and `families.json`, which has the stacks; `tests/unit/test_family_table.py` "
            "holds them to each other and makes some of the rows again.",
            "",
            f"{about['recorded']}, {about['machine']}; {versions}.",
            "",
            *table(rows),
            "",
            "- **runs**: `compiled` is onnxruntime over our own graph and `torch` our own layers, with exits and "
            "copies; `transformers` runs the model whole, so there are no exits and no copies of it.",
            "- **logits differ by**: the largest difference from transformers' own, of the largest logit; for "
            "`compiled` our torch decoder is compared too, and the larger difference stands here.",
            "- **the others**: whether greedy stacks wrote plain decoding's text: lookups and lookahead; a smaller "
            "model; exits after every layer, by the model's own head; trees of drafts; copies in 8 and 4 bits; three "
            "levels.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the table of families; goes on where it was interrupted today.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    about = {
        "recorded": date.today().isoformat(),
        "machine": machine.describe("cpu"),
        "versions": dict(machine.versions()),
        "command": HOW,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "families.json"
    before = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    done = {one["family"]: one for one in before["rows"]} if before.get("about") == about else {}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        small = save(root / "small", "llama-tied", seed=3, layers=2)
        for family in CONFIGS:
            if family not in done:
                done[family] = row(save(root / family, family), family, small)
                print(json.dumps(done[family]), file=sys.stderr)
            found = [done[one] for one in CONFIGS if one in done]
            kept.write_text(json.dumps({"about": about, "rows": found}, indent=1) + "\n", encoding="utf-8")
    (options.out / "table.md").write_text(page(found, about), encoding="utf-8")


if __name__ == "__main__":
    main()
