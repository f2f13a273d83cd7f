"""At which depth does the model already know the next token? One teacher-forced pass, read after every layer.

Every depth is read through the *lens*, the model's own last norm and head (untrained before the last layer, except in
LayerSkip checkpoints), and through the trained drafts if there are any. Two figures compare a read-out with the model
at each position: whether their likeliest tokens agree (what counts at temperature 0), and 1 - TV = sum min(p, q), the
chance that a token drawn from it is accepted at temperature 1 (Leviathan et al. 2023).

HiSpec's figure 4 (arXiv 2510.01336) shows how many of the tokens that a quarter of the layers accepts are accepted by
the last layer. At temperature 0 a verifier accepts a drafted token if it is the verifier's likeliest, so both "two
read-outs agree" and "the model keeps what they agree on" are counts of positions in texts of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hsd_core.core.driver import Stopped
from hsd_core.levels.draft_run import TrainedDraft
from hsd_core.measure.intervals import Tally
from hsd_core.measure.tables import markdown
from hsd_core.models.lean import decoder as lean
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import softmax
from hsd_core.systems.exits import study_tables
from hsd_core.systems.exits.notes import Depths
from hsd_core.trace.prompt_files import check_ids

LENS = "lens"
States = dict[int, Tensor]  # by depth: (n, hidden)
CHUNK = 64  # positions read out at a time: the memory holds (CHUNK, V) rows of two read-outs


@dataclass(frozen=True, slots=True)
class DepthReading:
    """R read-outs of n tokens; rows in the order of `at` and `readouts`, the model itself is row `last`.

    p (R, n): raw probability of the token that was written. top (R, n): the likeliest id. overlap (R, n): 1 - TV with
    the model's own row.
    """

    at: tuple[int, ...]
    readouts: tuple[str, ...]
    last: int
    p: Tensor
    top: Tensor
    overlap: Tensor

    @property
    def agree(self) -> Tensor:
        """(R, n) whether the likeliest token is the model's own."""
        return self.top == self.top[self.last]

    def note(self) -> Depths:
        """The trace's note, with six significant digits."""
        p = tuple(tuple(float(f"{x:.6g}") for x in row) for row in self.p.tolist())
        return Depths(self.at, self.readouts, p, tuple(map(tuple, self.top.tolist())))


@torch.inference_mode()
def read_depths(
    decoder: LeanDecoder,
    ids: Sequence[int],
    start: int,
    drafts: Sequence[TrainedDraft] = (),
    *,
    lens: bool = True,
    stop: Callable[[], bool] = lambda: False,
) -> DepthReading:
    """Read every depth at the tokens `ids[start:]`, each as the continuation of all before it.

    Args:
        lens: read every layer through the model's own head; False: the drafts and the last layer only.
        stop: called between layers; True ends the reading.
    Raises:
        Stopped: `stop` turned true.
        ValueError: there is no token before `start`, or none from there on, or an id is outside the vocabulary.
        DecoderError: the text is longer than the context.
    """
    if not 1 <= start < len(ids):
        raise ValueError(f"tokens {start} to {len(ids) - 1} are to be read; give a prompt and at least one token after")
    check_ids(ids, decoder.vocab_size)
    layers = decoder.layers
    first, n = start - 1, len(ids) - start
    through_lens = range(1 if lens else layers, layers + 1)
    drafted = {depth for d in drafts for depth in (d.at, *d.joined)} | ({layers} if drafts else set())
    late, whole = _states(decoder, list(ids[:-1]), first, {*through_lens}, drafted, stop)
    last = len(through_lens) - 1
    at = (*through_lens, *(d.at for d in drafts))
    names = (*(LENS for _ in through_lens), *(d.name for d in drafts))
    p, overlap = torch.zeros(len(at), n), torch.zeros(len(at), n)
    top = torch.zeros(len(at), n, dtype=torch.long)
    readers = [_reader(decoder, d, whole, first, ids[:-1]) for d in drafts]
    for lo in range(0, n, CHUNK):
        hi = min(lo + CHUNK, n)
        written = torch.tensor(ids[start + lo : start + hi], device=decoder.device)[:, None]
        own = softmax(decoder.head(late[layers][lo:hi]))
        for r in range(len(at)):
            if stop():
                raise Stopped
            if r == last:
                dist = own
            elif r < last:
                dist = softmax(decoder.head(late[at[r]][lo:hi]))
            else:
                dist = softmax(next(readers[r - last - 1])).to(own.device)
            p[r, lo:hi] = dist.gather(1, written)[:, 0].cpu()
            top[r, lo:hi] = dist.argmax(-1).cpu()
            overlap[r, lo:hi] = torch.minimum(dist, own).sum(-1).cpu()
    return DepthReading(at, names, last, p, top, overlap)


def _states(
    decoder: LeanDecoder, ids: list[int], first: int, read: set[int], whole: set[int], stop: Callable[[], bool]
) -> tuple[States, States]:
    """The states of one pass over `ids`: of positions from `first` on at the depths `read`, of all at `whole`."""
    late: dict[int, list[Tensor]] = {depth: [] for depth in read}
    every: dict[int, list[Tensor]] = {depth: [] for depth in whole}
    for start, depth, x in decoder.walk(ids, read | whole):
        if stop():
            raise Stopped
        if depth in whole:
            every[depth].append(x)
        if depth in read and start + len(x) > first:
            late[depth].append(x[max(0, first - start) :])
    found = [{depth: torch.cat(parts) for depth, parts in kept.items()} for kept in (late, every)]
    return found[0], found[1]


def _reader(
    decoder: LeanDecoder, draft: TrainedDraft, states: States, first: int, ids: Sequence[int]
) -> Iterator[Tensor]:
    """A draft's logits, chunk by chunk, for positions from `first` on; it has read all positions before."""
    x, features = states[draft.at], states[decoder.layers]
    if draft.joined:
        features = draft.join(torch.cat([states[depth] for depth in draft.joined], 1))
    # Position t is fed the model's state of t - 1, the first position zeros.
    fed = torch.cat((torch.zeros_like(features[:1]), features[:-1])) if draft.fed else None
    end = len(ids)
    cache = draft.new_cache(end)
    for lo in range(0, first, lean.CHUNK):
        hi = min(lo + lean.CHUNK, first)
        draft.forward(Pass(ids[lo:hi], lo), x[lo:hi], cache, ids[:hi], None if fed is None else fed[lo:hi])
    for lo in range(first, end, CHUNK):
        hi = min(lo + CHUNK, end)
        given = Pass(ids[lo:hi], lo, hi - lo)
        yield draft.forward(given, x[lo:hi], cache, ids[:hi], None if fed is None else fed[lo:hi])[0]


@dataclass(frozen=True, slots=True)
class Sums:
    """One text's part of a study: its number of tokens, and (R,) sums of agreement and overlap over them."""

    kind: str
    tokens: int
    agree: Tensor
    overlap: Tensor

    @classmethod
    def of(cls, reading: DepthReading, kind: str) -> Sums:
        n = reading.p.shape[1]
        return cls(kind, n, reading.agree.double().sum(1), reading.overlap.double().sum(1))


def summary(reading: DepthReading, sums: Sequence[Sums]) -> dict[str, Any]:
    """Means over all tokens with 95 % intervals (a bootstrap over texts), in total and by kind, as plain JSON types.

    reading: of any of the texts, for the names of the rows.
    """
    kinds = sorted({s.kind for s in sums} - {""})
    by_kind = {kind: [s for s in sums if s.kind == kind] for kind in kinds}
    return {
        "rows": [{"at": a, "readout": r} for a, r in zip(reading.at, reading.readouts, strict=True)],
        "all": _figures(sums),
        "kinds": {kind: _figures(own) for kind, own in by_kind.items()},
    }


def _figures(sums: Sequence[Sums]) -> dict[str, Any]:
    figures: dict[str, Any] = {"texts": len(sums), "tokens": sum(s.tokens for s in sums)}
    for name in ("agree", "overlap"):
        tally = Tally(len(sums))
        for text, one in enumerate(sums):
            for r, value in enumerate(getattr(one, name).tolist()):
                tally.add((r,), text, value, one.tokens)
        figures[name] = [tally.ratio(r) for r in tally.names()]
        figures[f"{name}_interval"] = [list(tally.interval(r) or ()) for r in tally.names()]
    return figures


def readings(study: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A record per read-out: its agreement with the model's text, in total and by kind of prompt."""
    whole_, kinds = study["all"], study["kinds"]
    for i, row in enumerate(study["rows"]):
        means = {name: round(whole_[name][i], 5) for name in ("agree", "overlap")}
        ends = {f"{name}_interval": [round(end, 5) for end in whole_[f"{name}_interval"][i]] for name in means}
        by_kind = {kind: round(own["agree"][i], 5) for kind, own in kinds.items()}
        yield {"what": "reading", **row, **means, **ends, "kinds": by_kind}


def tables(study: dict[str, Any]) -> str:
    """The summary as Markdown: a row per read-out, then agreement by kind if there are several."""
    found, kinds = study_tables.readings([*readings(study)]), study["kinds"]
    if len(kinds) < 2:
        return found
    head = ("layers", "read-out", *(f"{kind} ({own['tokens']})" for kind, own in kinds.items()))
    body = (
        (row["at"], row["readout"], *(f"{own['agree'][i]:.3f}" for own in kinds.values()))
        for i, row in enumerate(study["rows"])
    )
    return f"{found}\n\nAgreement by kind (tokens):\n\n{markdown(head, body)}"


LAST = "last"  # the model itself, as a read-out in records


def lens_agreement(records: Iterable[Mapping[str, Any]]) -> Callable[[int, int], float]:
    """A function of two depths: the share of the shallower one's tokens that the deeper one accepts, both read by the
    model's own head."""
    found = {
        (r["draft"][0], r["verifier"][0]): float(r["accepts"])
        for r in records
        if r["what"] == "pair" and r["draft"][1] == LENS and r["verifier"][1] in (LENS, LAST)
    }
    return lambda below, above: found[below, above]


class Agreements:
    """How often read-outs agree with each other, counted over texts."""

    def __init__(self, rows: int) -> None:
        self.tokens = 0
        self._same, self._kept = torch.zeros(2, rows, rows, dtype=torch.int64)

    def add(self, reading: DepthReading) -> None:
        """Count the positions of one text."""
        for r, top in enumerate(reading.top):  # a row at a time: (R, n) comparisons
            same = reading.top == top
            self._same[r] += same.sum(1)
            self._kept[r] += (same & reading.agree).sum(1)
        self.tokens += reading.top.shape[1]

    def records(self, reading: DepthReading) -> Iterator[dict[str, Any]]:
        """For each read-out and each deeper one: `accepts`, the share of the first one's tokens that the second keeps;
        `kept`, the share of those that the last layer keeps. reading: of any of the texts, for the names."""
        for draft, at in enumerate(reading.at):
            for verifier, deeper in enumerate(reading.at):
                if at < deeper:
                    same = int(self._same[draft, verifier])
                    yield {
                        "what": "pair",
                        "draft": [at, reading.readouts[draft]],
                        "verifier": [deeper, LAST if verifier == reading.last else reading.readouts[verifier]],
                        "accepts": round(same / self.tokens, 5),
                        "kept": round(int(self._kept[draft, verifier]) / same, 5) if same else None,
                    }
