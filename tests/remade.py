"""SmolLM2 with another tokenizer: the same layers over a vocabulary with fewer merges, its ids in another order.

A real pair of models whose tokenizers differ, and which agree: what a draft of another family would be at its best. Its
words fall into more tokens than it was trained on, so it says less well what comes next than SmolLM2 itself.

    python -m tests.remade FOLDER [--merges N]
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file

from hsd_core.models.weights import ensure
from hsd_core.stacks.presets import PRESETS

EMBEDDING = "model.embed_tokens.weight"
MERGES = 20_000  # of 48,900


def remake(source: Path, out: Path, *, merges: int = MERGES, seed: int = 0) -> Path:
    """Write the model of `source` with the first so many merges alone; its layers stay where they are, linked."""
    spec = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    kept = spec["model"]["merges"][:merges]
    pairs = [one.split(" ") if isinstance(one, str) else one for one in kept]
    made = {a + b for a, b in pairs}
    added = {one["content"] for one in spec["added_tokens"]}
    old = spec["model"]["vocab"]
    tokens = [token for token in sorted(old, key=old.get) if token in added or token in made or len(token) == 1]
    random.Random(seed).shuffle(tokens)
    new = {token: id_ for id_, token in enumerate(tokens)}
    spec["model"] |= {"vocab": new, "merges": kept}
    for one in spec["added_tokens"]:
        one["id"] = new[one["content"]]
    moved = {old[token]: id_ for token, id_ in new.items()}

    out.mkdir(parents=True, exist_ok=True)
    (out / "tokenizer.json").write_text(json.dumps(spec), encoding="utf-8")
    shown = json.loads((source / "tokenizer_config.json").read_text(encoding="utf-8"))
    (out / "tokenizer_config.json").write_text(json.dumps(shown), encoding="utf-8")
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    ids = {
        key: _moved(config[key], moved) for key in ("bos_token_id", "eos_token_id", "pad_token_id") if config.get(key)
    }
    (out / "config.json").write_text(json.dumps({**config, **ids, "vocab_size": len(new)}), encoding="utf-8")
    with safe_open(source / "model.safetensors", "pt") as weights:
        names = [*weights.keys()]
        rows = weights.get_tensor(EMBEDDING)[[old[token] for token in tokens]].contiguous()
    save_file({EMBEDDING: rows}, out / "rows.safetensors")
    (out / "model.safetensors").unlink(missing_ok=True)
    (out / "model.safetensors").symlink_to(source / "model.safetensors")
    files = {name: "rows.safetensors" if name == EMBEDDING else "model.safetensors" for name in names}
    (out / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}), encoding="utf-8")
    return out


def _moved(ids: int | list[int], moved: dict[int, int]) -> int | list[int]:
    return [moved[one] for one in ids] if isinstance(ids, list) else moved[ids]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--merges", type=int, default=MERGES)
    options = parser.parse_args()
    print(remake(ensure(PRESETS["smollm2"].target), options.folder, merges=options.merges))
