"""What of a model lies whole in the Hub's own cache. Asks no network and imports nothing heavy."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

INDEX = "model.safetensors.index.json"


def snapshot(hub_id: str) -> Path | None:
    """The folder of a model that can be opened: every shard of its index, config.json and tokenizer.json.

    The one that the cache calls main is taken, else any that is whole.
    """
    root = hub_cache() / f"models--{hub_id.replace('/', '--')}"
    return next((folder for folder in _snapshots(root) if _is_whole(folder)), None)


def config_of(hub_id: str) -> Path | None:
    """A folder with the config.json of a model, whatever else of it is here."""
    root = hub_cache() / f"models--{hub_id.replace('/', '--')}"
    return next((folder for folder in _snapshots(root) if (folder / "config.json").is_file()), None)


def hub_cache() -> Path:
    """Where the Hub's library keeps what it fetches."""
    home = os.environ.get("HF_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    named = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    return Path(os.path.expanduser(os.path.expandvars(named or os.path.join(home, "hub"))))


def lacks_shard(folder: Path) -> str:
    """The first file of weights that a folder's index names and the folder does not have, "" if there is none."""
    try:
        named = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values()
        return next((name for name in sorted({Path(n).name for n in named}) if not (folder / name).is_file()), "")
    except FileNotFoundError:
        return "" if any(path.is_file() for path in folder.glob("*.safetensors")) else "model.safetensors"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return INDEX


def _snapshots(root: Path) -> Iterator[Path]:
    main = root / "refs" / "main"
    if main.is_file():
        yield root / "snapshots" / main.read_text(encoding="utf-8").strip()
    yield from sorted((root / "snapshots").glob("*"))


def _is_whole(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ("config.json", "tokenizer.json")) and not lacks_shard(folder)
