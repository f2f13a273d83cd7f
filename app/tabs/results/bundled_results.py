"""The bundled benchmarks: each folder of assets/results with a results.json is one machine's. Adding one is enough."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.routing import Route

from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.kit.system_pages import system_pages
from app.tabs.results import words as says
from hsd_core.measure.bench.summary import as_csv
from hsd_core.measure.results import measured_on
from hsd_core.stacks.presets import PRESETS
from hsd_core.theory.profiles.profile_store import distance_to_here, shipped_profiles
from hsd_core.typed import convert, plain

LARGEST = 400_000  # bytes of a results.json; one of 20 stacks has 15 kB
MOST = 40  # folders
ASKED, PAPER = "gpu.json", "paper.json"
FIRST = next(iter(PRESETS))  # the preset whose measurement is asked for where there is none
HOW = "python -m hsd_core bench --preset {preset}{device} --prompts own --out assets/results/{preset}-{machine}"
log = logging.getLogger(__name__)

Figure = Annotated[float, Meta(ge=0.0, lt=1e9)]
Count = Annotated[int, Meta(ge=0, lt=2**31)]
Text = Annotated[str, Meta(max_length=400)]
Ends = tuple[Figure, Figure]
Some = Meta(max_length=100)  # entries of a list or an object


class About(Struct):
    recorded: Text
    command: Annotated[str, Meta(max_length=1000)]
    preset: Text
    device: Text
    dtype: Text
    machine: Text
    prompts: Text
    max_new_tokens: Count
    threads: Count
    versions: Annotated[dict[str, Text], Some]
    peak_mb: Figure = 0.0


class Lost(Struct):
    """What a stack that is not exact gives up."""

    spared: Annotated[float, Meta(ge=0.0, le=1.0)]
    surprise: Figure
    plain: Figure


class BenchRow(Struct):
    """A stack."""

    asked: Text
    stack: Text
    plain: Text
    prompts: Count
    tokens_per_s: Figure
    speed_up: Figure
    interval: Ends
    tasks: Annotated[dict[str, Figure], Some]
    acceptance: Annotated[list[Figure | None], Some]
    accepted_per_pass: Figure
    equal: Annotated[float, Meta(ge=0.0, le=1.0)] | None
    price: Lost | None = None


class PeerResult(Struct):
    """Another program; without `tokens_per_s` it was not run, and `why` says the reason."""

    name: Text
    tokens_per_s: Figure | None
    why: Text = ""
    beside_plain: Figure = 0.0
    same_tokens: Figure = 0.0


class Claimed(Struct):
    """A stack that the claim names."""

    stack: Text
    levels: Count
    speed_up: Figure
    interval: Ends
    tokens: Figure
    passes: Figure


class Over(Struct):
    speed_up: Figure
    interval: Ends


class Claim(Struct):
    best: Annotated[list[Claimed], Some]
    over: Over | None
    loses: Annotated[list[Claimed], Some]


class BenchReport(Struct):
    """What a results.json has to hold; see `hsd_core.measure.bench.summary`. One of an earlier version has no claim."""

    about: About
    stacks: Annotated[list[BenchRow], Meta(min_length=1, max_length=100)]
    peers: Annotated[list[PeerResult], Some] = []
    claim: Claim | None = None


class PaperRow(Struct, forbid_unknown_fields=True):
    """A system of a paper's table. stack: that of ours that is nearest, "" for none. tasks: speed-up by the paper's
    own tasks."""

    name: Text
    stack: Text
    tasks: Annotated[dict[str, Figure], Some]


class Paper(Struct, forbid_unknown_fields=True):
    """What a paper reports, beside a benchmark of its systems here: the file `PAPER` in the benchmark's folder.

    paper: which table of which paper. on: machine and models. why: why the figures here differ, in a sentence.
    drawn: the same systems by temperature.
    """

    paper: Text
    on: Text
    why: Text
    rows: Annotated[list[PaperRow], Meta(min_length=1, max_length=20)]
    drawn: Annotated[list[PaperRow], Meta(max_length=20)] = []


class AskedFor(Struct):
    """What the file `ASKED` holds: a date. It stays until a GPU has been measured."""

    asked: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d$")]


class Bundled:
    """The benchmarks below a folder, read once.

    Attributes:
        reports: `{"id", "results", "csv", "unlike", "lost", "paper", "drawn"}` of each, those of most prompts first, of
            equal ones those with the default stack: `results` as its file holds it, `unlike` how far its machine is
            from this one, `lost` what systems say of stacks that lose: by stack, then by system, `paper` what a paper
            reports of its stacks, or None, `drawn` see `_drawn`. A file that cannot be read is left out, and the log
            says why.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._profiles = folder, shipped_profiles()
        self.reports = self._found()

    def _found(self) -> list[dict[str, Any]]:
        found = []
        for path in sorted(self._folder.glob("*/results.json"))[:MOST]:
            try:
                results = _read(path)
                named = {"id": path.parent.name, "results": results, "csv": as_csv(results)}
                far = distance_to_here(results["about"], results["about"]["device"])
                beside = _paper(path.with_name(PAPER))
                more = {"paper": beside, "drawn": _drawn(path.parent)}
                found.append({**named, "unlike": far, "lost": self._lost(results), **more})
            except (ValueError, OSError, RecursionError) as error:
                log.warning("the results in %s are passed over: %s", path, error)
        return sorted(found, key=lambda one: (-one["results"]["stacks"][0]["prompts"], _lacks_default(one["results"])))

    def _lost(self, results: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Of each stack that loses, what systems say of why (`why_lost`); where the machine's profile is shipped."""
        profile = measured_on(results["about"], self._profiles)
        loses = (results.get("claim") or {"loses": []})["loses"]
        if profile is None:
            return {}
        preset, pages = PRESETS.get(results["about"]["preset"]), system_pages("why_lost")
        return {
            one["stack"]: {name: page.why_lost(one["stack"], profile, preset) for name, page in pages.items()}
            for one in loses
        }

    def listing(self) -> dict[str, Any]:
        """What the tab shows: the `reports`, and what was `missing` with the command that measures it."""
        return {"reports": self.reports, "missing": _missing(self.reports, self._asked())}

    def _asked(self) -> str:
        """The day on which a GPU was last asked for and none was there; "" where nobody wrote it down."""
        try:
            return convert(plain((self._folder / ASKED).read_bytes()), AskedFor).asked
        except OSError:
            return ""


def _read(path: Path) -> dict[str, Any]:
    """The contents of a results.json.

    Raises:
        ValueError: it is none; the message says what is wrong with it. OSError: it cannot be read.
    """
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"it has {size} bytes; at most {LARGEST} are expected")
    results = plain(path.read_bytes())
    convert(results, BenchReport)
    found: dict[str, Any] = results
    return found


def _paper(path: Path) -> dict[str, Any] | None:
    """See `Paper`; None where a benchmark has none.

    Raises:
        ValueError: it does not fit.
    """
    if not path.is_file():
        return None
    paper: dict[str, Any] = plain(path.read_bytes())
    convert(paper, Paper)
    return paper


def _drawn(folder: Path) -> dict[str, dict[str, float]]:
    """Speed-up by stack and temperature, from the benchmarks in the folders `temperature-T` of a benchmark's; the plain
    target's are left out. Errors as in `_read`."""
    gains = dict[str, dict[str, float]]()
    for path in sorted(folder.glob("temperature-*/results.json"))[:MOST]:
        for row in _read(path)["stacks"]:
            if row["stack"] != row["plain"]:
                gains.setdefault(row["stack"], {})[path.parent.name.removeprefix("temperature-")] = row["speed_up"]
    return gains


def _lacks_default(results: dict[str, Any]) -> bool:
    preset = PRESETS.get(results["about"]["preset"])
    return preset is None or preset.default_stack not in {one["stack"] for one in results["stacks"]}


def _missing(reports: Sequence[dict[str, Any]], asked: str) -> list[dict[str, str]]:
    """Kinds of machine on which no benchmark was made, and when one was last asked for."""
    here = {report["results"]["about"]["device"].split(":")[0] for report in reports}
    return [
        {
            "what": what,
            "preset": FIRST,
            "command": HOW.format(preset=FIRST, device=f" --device {kind}", machine=kind),
            "asked": asked if kind == "cuda" else "",
        }
        for kind, what in says.MACHINES.items()
        if kind not in here
    ]


# ---- The bundled studies of systems: files in the folders of results, which `page.py` of a system reads


def studies(page: ModuleType, folder: Path) -> list[dict[str, Any]]:
    """Each with its `id`. One that cannot be read is left out, and the log says why."""
    found = []
    for path in sorted(folder.glob(page.FILES)):
        try:
            if (size := path.stat().st_size) > page.LARGEST:
                raise ValueError(f"it has {size} bytes; at most {page.LARGEST} are expected")
            found.append({"id": path.parent.name, **page.study(path)})
        except (ValueError, OSError, RecursionError) as error:
            log.warning("the study in %s is passed over: %s", path, error)
    return found


def addresses(folder: Path) -> dict[str, str]:
    """Where the page asks for the studies of a name; of those that are in the folder."""
    return {
        page.STUDY: f"{ROUTE}/{page.STUDY}" for page in system_pages("study").values() if any(folder.glob(page.FILES))
    }


def studies_routes(folder: Path) -> list[Route]:
    """GET of the bundled studies of each name, read now."""
    routes = []
    for page in system_pages("study").values():
        text = dumps({"studies": studies(page, folder)}).encode()
        packed = PackedBody(partial(bytes, text), "application/json")
        routes.append(Route(f"{ROUTE}/{page.STUDY}", packed.__call__, methods=["GET"]))
    return routes
