"""The greedy search for sublayers to leave out: at each step the one that loses the least agreement per weight saved.

Draft & Verify (arXiv 2309.08168) searches sets by Bayesian optimization over a thousand tries (`bayes`), SWIFT (arXiv
2410.06916) while it generates. Greedy steps need some hundreds of short reads and give a ladder to look at: the
agreement without each sublayer alone, then without more and more of them.

A set is priced optimistically, by the exact recursion: a draft's pass costs its share of the target's weights, and
every token of a draft is assumed to agree as often as the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from hsd_core.measure import tables
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.linear import nbytes
from hsd_core.models.lean.sublayers import ATTENTION, BOTH, NONE, Sublayers
from hsd_core.theory import Profile, ProfileLevel
from hsd_core.theory.profiles.costs import Costs
from hsd_core.theory.search.planner import best_block_lengths
from hsd_core.typed import builtins, encode_lines, records


def worth(target: ProfileLevel, agree: float, left: float) -> tuple[float, int]:
    """The speed-up over plain decoding of a draft at its best block length, and that length. agree: of its tokens;
    left: the share of weights that its passes read."""
    costs = Costs(target.cost.rows, tuple(ms * left for ms in target.cost.ms))
    matrix = ((1.0, min(agree, 1.0)), (1.0, 1.0))
    profile = Profile((ProfileLevel("draft", costs), ProfileLevel("target", target.cost)), matrix)
    speed_up, blocks = best_block_lengths(profile, (0, 1))
    return speed_up, blocks[0]


def priced(target: ProfileLevel, path: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The steps of a path, each with its speed-up and block length."""
    found = []
    for step in path:
        speed_up, block = worth(target, float(step["agree"]), float(step["left"]))
        found.append({**step, "speed_up": round(speed_up, 4), "block": block})
    return found


def answer(path: Sequence[Mapping[str, Any]]) -> str:
    """The conclusion from a priced path, in a sentence."""
    best = max(path, key=lambda step: float(step["speed_up"]))
    count = 1 + list(path).index(best)
    gain = f"{best['speed_up']:.2f} times plain decoding"
    what = f"the best set of this path leaves out {count} sublayers and would reach {gain} at most"
    return f"Skip nothing: {what}." if best["speed_up"] <= 1.0 else f"Skip {count}: {what}."


def table(path: Sequence[Mapping[str, Any]]) -> str:
    """A row per step."""
    head = ("left out", "sublayer", "agreement", "weights read", "at best", "block")
    body = [
        (n, f"{s['kind']} {s['layer']}", f"{s['agree']:.3f}", f"{s['left']:.3f}", f"{s['speed_up']:.2f}", s["block"])
        for n, s in enumerate(path, 1)
    ]
    return tables.markdown(head, body)


DIGITS = 5


class Agreement(Protocol):
    """See `SublayerAgreement`."""

    def sublayers(self) -> Any: ...

    def begin(self, without: Sublayers) -> float: ...

    def also_without(self, kind: str, layer: int) -> float: ...


@dataclass(frozen=True, slots=True)
class Weights:
    """Bytes of weights that a pass reads: in an attention, in an MLP, and in total with the head."""

    attention: int
    mlp: int
    whole: int

    @classmethod
    def of(cls, decoder: LeanDecoder) -> Weights:
        layer = decoder.stack[0]
        attention, mlp = (sum(map(nbytes, some)) for some in ((layer.qkv, layer.out), (layer.gate_up, layer.down)))
        return cls(attention, mlp, decoder.weight_bytes(decoder.layers))

    def one(self, kind: str) -> int:
        return self.attention if kind == ATTENTION else self.mlp

    def share_left(self, without: Sublayers) -> float:
        """The share of bytes that a pass still reads."""
        return 1.0 - (len(without.attention) * self.attention + len(without.mlp) * self.mlp) / self.whole


class ResumeFile:
    """Agreements measured so far, by set: JSON lines from which an interrupted search resumes.

    Raises:
        ValueError: the file is of another search.
    """

    def __init__(self, path: Path | None, about: Mapping[str, Any]) -> None:
        self._path, self._found = path, dict[Sublayers, float]()
        if path is None:
            return
        if not path.exists():
            path.write_bytes(encode_lines([about]))
            return
        try:
            first, *others = [found for _, found in records(path, dict[str, Any], "what a search has read")]
            self._found = {Sublayers(*(frozenset(r[one]) for one in BOTH)): float(r["agree"]) for r in others}
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path.name} cannot be gone on from ({error}); move it away") from error
        if first != builtins(about):
            raise ValueError(f"{path.name} holds another search; name another --out, or move the file away")

    def read(self, without: Sublayers, now: Callable[[], float]) -> float:
        """An agreement from the file, or measured by `now` and added to it."""
        if without not in self._found:
            self._found[without] = round(now(), DIGITS)
            if self._path is not None:
                with self._path.open("ab") as file:
                    out = {"attention": sorted(without.attention), "mlp": sorted(without.mlp)}
                    file.write(encode_lines([{**out, "agree": self._found[without]}]))
        return self._found[without]


def search(
    agrees: Agreement,
    weights: Weights,
    steps: int,
    kept: ResumeFile,
    progress: Callable[[str], None] = lambda said: None,
) -> dict[str, Any]:
    """The ladder: `alone`, the agreement without each sublayer; `path`, the sublayer that each step leaves out, with
    the agreement and the share of weights read from then on."""
    without, agreement = NONE, 1.0
    alone: list[dict[str, Any]] = []
    path: list[dict[str, Any]] = []
    for step in range(steps):
        agrees.begin(without)
        left = [one for one in agrees.sublayers() if one not in set(without.named())]
        found = {}
        for kind, layer in left:
            more = Sublayers.of([*without.named(), (kind, layer)])
            found[kind, layer] = kept.read(more, partial(agrees.also_without, kind, layer))
            progress(f"step {step + 1}")
        if not step:
            alone = [{"kind": kind, "layer": layer, "agree": share} for (kind, layer), share in found.items()]
        kind, layer = min(left, key=lambda one: ((agreement - found[one]) / weights.one(one[0]), one[1]))
        agreement = found[kind, layer]
        without = Sublayers.of([*without.named(), (kind, layer)])
        path.append(
            {"kind": kind, "layer": layer, "agree": agreement, "left": round(weights.share_left(without), DIGITS)}
        )
    return {"alone": alone, "path": path}


def reads_of(sublayers: int, steps: int) -> int:
    """How many sets the first steps of a greedy search read."""
    return sum(sublayers - step for step in range(steps))


def without_first(path: Sequence[Mapping[str, Any]], count: int) -> Sublayers:
    """The sublayers that the first `count` steps of a path leave out."""
    return Sublayers.of((str(step["kind"]), int(step["layer"])) for step in path[:count])
