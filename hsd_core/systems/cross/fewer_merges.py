"""A target with another tokenizer: its own layers over a vocabulary with fewer merges, its ids in another order.

A pair of models whose tokenizers differ, and which agree: what a draft of another family would be at its best. Nothing
is trained. Its words fall into more tokens than it was trained on, so it says less well what comes next.
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file

BY_TOKEN = ("model.embed_tokens.weight", "lm_head.weight")  # a row for each token
WEIGHTS = "model.safetensors"
ENDS = ("bos_token_id", "eos_token_id", "pad_token_id")


def with_fewer_merges(source: Path, out: Path, *, merges: int, seed: int = 0) -> bool:
    """Write the model in `source` with its first so many merges alone; its layers stay where they are, linked.

    Args:
        seed: of the order of ids.
    Returns:
        Whether it was made; False if it was there. A start that was cut off is made anew.
    Raises:
        ValueError: the tokenizer has no such merges, the weights are in several files, or `out` holds something else.
    """
    spec = _read(source / "tokenizer.json")
    if not 0 <= merges <= (most := len(spec["model"].get("merges", ()))):
        raise ValueError(f"--merges {merges}: the tokenizer has {most}; name fewer")
    if not (source / WEIGHTS).is_file():
        raise ValueError(f"{source} has no {WEIGHTS}; take a model whose weights are one file")
    recipe = {"merges": merges, "of": str(source.resolve()), "seed": seed}
    if out.is_dir() and any(out.iterdir()):
        if not (out / "config.json").is_file() or _read(out / "config.json").get("recipe") != recipe:
            raise ValueError(f"{out} holds something else; name a new folder")
        return False
    ids = _cut(spec, merges, seed)  # the old id of each new one
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    _write(part / "tokenizer.json", spec)
    _write(part / "tokenizer_config.json", _read(source / "tokenizer_config.json"))
    config, new = _read(source / "config.json"), {old: id_ for id_, old in enumerate(ids)}
    ends = {key: _moved(config[key], new) for key in ENDS if config.get(key) is not None}
    _write(part / "config.json", {**config, **ends, "vocab_size": len(ids), "recipe": recipe})
    with safe_open(source / WEIGHTS, "pt") as weights:
        names = [*weights.keys()]
        save_file(
            {name: weights.get_tensor(name)[ids].contiguous() for name in BY_TOKEN if name in names},
            part / "rows.safetensors",
        )
    (part / WEIGHTS).symlink_to((source / WEIGHTS).resolve())
    files = {name: "rows.safetensors" if name in BY_TOKEN else WEIGHTS for name in names}
    _write(part / f"{WEIGHTS}.index.json", {"weight_map": files})
    if out.is_dir():
        out.rmdir()
    part.replace(out)
    return True


def _cut(spec: dict[str, Any], merges: int, seed: int) -> list[int]:
    """Cut a tokenizer's vocabulary to what its first merges make; returns the old ids in the new order."""
    kept = spec["model"]["merges"][:merges]
    made = {"".join(one.split(" ") if isinstance(one, str) else one) for one in kept}
    added = {one["content"] for one in spec["added_tokens"]}
    old = spec["model"]["vocab"]
    tokens = [token for token in sorted(old, key=old.get) if token in added or token in made or len(token) == 1]
    random.Random(seed).shuffle(tokens)
    new = {token: id_ for id_, token in enumerate(tokens)}
    spec["model"] |= {"vocab": new, "merges": kept}
    for one in spec["added_tokens"]:
        one["id"] = new[one["content"]]
    return [old[token] for token in tokens]


def _moved(ids: int | list[int], new: dict[int, int]) -> int | list[int]:
    return [new[one] for one in ids] if isinstance(ids, list) else new[ids]


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _write(path: Path, what: dict[str, Any]) -> None:
    path.write_text(json.dumps(what), encoding="utf-8")
