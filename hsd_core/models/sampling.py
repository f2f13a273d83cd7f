"""From logits to the distribution that tokens are drawn from: one transform for every level of a stack.

Rules compare probabilities of two levels, so both must have the same temperature, top-k and top-p. Greedy decoding is
the one-hot case, so no rule or level needs a special path for it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor

TokenId: TypeAlias = Any  # an int; for a row on a device, a () tensor there
COLDEST = 0.001  # lower temperatures may overflow float32
FEW = 32  # the first number of tokens to search for a nucleus
SHARE = 8  # a nucleus larger than 1 / SHARE of the vocabulary is found by sorting
BLOCK = 128  # columns


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn. `temperature` 0 is greedy; `top_k` 0 and `top_p` 1 are off.

    Raises:
        ValueError: a value is out of its range.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if self.temperature != 0.0 and not COLDEST <= self.temperature <= 10.0:
            raise ValueError(f"temperature {self.temperature} is out of range; use 0 (greedy) or {COLDEST} to 10")
        if self.top_k < 0:
            raise ValueError(f"top-k {self.top_k} is negative; use 0 to switch it off")
        if not 0.0 < self.top_p <= 1.0:
            raise ValueError(f"top-p {self.top_p} is out of range; use a value above 0 and up to 1 (1 switches it off)")

    @property
    def greedy(self) -> bool:
        """See `is_greedy`."""
        return is_greedy({"temperature": self.temperature, "top_k": self.top_k})

    @property
    def heat(self) -> float:
        """The temperature of the draws; 0 for greedy decoding."""
        return 0.0 if self.greedy else self.temperature

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def is_greedy(settings: Mapping[str, Any]) -> bool:
    """Whether decoding is greedy: at temperature 0, or with top-k 1. The only definition of it.

    Args:
        settings: `temperature` and `top_k`, as in headers, settings and raw results; a missing one is off.
    """
    return bool(settings.get("temperature", 0.0) == 0.0 or settings.get("top_k", 0) == 1)


class OneHot:
    """(n, V) one-hot rows, the distributions of greedy decoding, stored as their n tokens.

    Args:
        ids: of the n tokens. like: (.., V), whose dtype and device dense rows have.
    """

    __slots__ = ("ids", "like")

    def __init__(self, ids: Sequence[int], like: Tensor) -> None:
        self.ids, self.like = ids, like

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: slice | list[int]) -> OneHot:
        return OneHot(self.ids[rows] if isinstance(rows, slice) else [self.ids[row] for row in rows], self.like)

    def dense(self) -> Tensor:
        import torch

        return one_hot(torch.tensor(self.ids, dtype=torch.long, device=self.like.device), self.like)


Distributions: TypeAlias = "Tensor | OneHot"


def to_probs(logits: Tensor, sampling: Sampling) -> Tensor:
    """The rows that tokens are drawn from.

    Args:
        logits: (n, V), any floating dtype; half precision is converted to float32, float64 stays.
    Returns:
        (n, V) probabilities that sum to 1; each row depends on its own logits only.
    """
    logits = _at_least_float32(logits)
    if sampling.greedy:
        return one_hot(likeliest(logits), logits)
    logits = logits / sampling.temperature
    if 0 < sampling.top_k < logits.shape[-1]:
        logits = _keep_top_k(logits, sampling.top_k)
    probs = logits.softmax(-1)
    return _keep_top_p(probs, sampling.top_p) if sampling.top_p < 1.0 else probs


class Logits:
    """(n, V) logits on a level's device, and what the host reads of them.

    The subclass for a GPU (`models/gpu`) fetches it together with the distributions.
    """

    __slots__ = ("values",)

    def __init__(self, values: Tensor) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: slice | list[int]) -> Logits:
        return Logits(self.values[rows])

    def finite(self, largest: Sequence[int] | None = None) -> bool:
        """See `finite`."""
        return finite(self.values, largest)

    def likeliest(self, k: int) -> list[list[tuple[int, float]]]:
        """Each row's k likeliest tokens at temperature 1 with their probabilities, as `shortlists`."""
        return shortlists(softmax(self.on_host()), k)

    def on_host(self) -> Tensor:
        """(n, V) the logits on the host."""
        return self.values


class TrimmedLogits(Logits):
    """Logits on the host over some tokens: (C,) logits of each row and the (C,) ids of their tokens, ascending. All
    others are -inf; whole rows are made when they are asked for."""

    __slots__ = ("rows", "vocab")

    def __init__(self, rows: Sequence[tuple[Tensor, Tensor]], vocab: int) -> None:
        self.rows, self.vocab = rows, vocab

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: slice | list[int]) -> TrimmedLogits:
        some = self.rows[rows] if isinstance(rows, slice) else [self.rows[row] for row in rows]
        return TrimmedLogits(some, self.vocab)

    @property
    def values(self) -> Tensor:  # type: ignore[override]
        return self.spread([row for row, _ in self.rows], -math.inf)

    def spread(self, rows: Sequence[Tensor], fill: float) -> Tensor:
        """(n, V) from values of the rows' own tokens, `fill` for all others."""
        import torch

        whole = torch.full((len(rows), self.vocab), fill, dtype=rows[0].dtype)
        for into, row, (_, ids) in zip(whole, rows, self.rows, strict=True):
            into[ids] = row
        return whole

    def finite(self, largest: object = None) -> bool:
        return all(finite(row[None]) for row, _ in self.rows)

    def likeliest(self, k: int) -> list[list[tuple[int, float]]]:
        found = ((shortlists(softmax(row[None]), k)[0], ids) for row, ids in self.rows)
        return [[(int(ids[at]), chance) for at, chance in some] for some, ids in found]

    def on_host(self) -> Tensor:
        return self.values


def joined_rows(parts: Sequence[Any]) -> Any:
    """Rows of one kind, tensors or `TrimmedLogits`, one after another."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], TrimmedLogits):
        return TrimmedLogits([row for part in parts for row in part.rows], parts[0].vocab)
    import torch

    return torch.cat(tuple(parts))


def whole_rows(rows: Tensor | TrimmedLogits) -> Tensor:
    """(n, V)."""
    return rows.values if isinstance(rows, TrimmedLogits) else rows


def read_rows(logits: Tensor, sampling: Sampling) -> tuple[Logits, Distributions]:
    """Logits (n, V), and their distributions (`to_probs`) on the host; greedy ones as `OneHot`."""
    if not on_host(logits):
        from hsd_core.models.gpu.device_rows import read_on_device

        return read_on_device(logits, sampling)
    if sampling.greedy:
        rows = _at_least_float32(logits)
        return Logits(logits), OneHot(rows.numpy().argmax(-1).tolist(), rows)  # as `likeliest`, without a tensor
    return Logits(logits), to_probs(logits, sampling)


def on_host(rows: Tensor) -> bool:
    """Whether the host can read them without waiting for a device."""
    return rows.is_cpu


def pick(row: Tensor, uniform: Callable[[], float]) -> TokenId:
    """A token's id from a (V,) row, by the inverse of its distribution function in float64.

    Args:
        uniform: gives a number in [0, 1); not called for a one-hot row, so that greedy runs consume no randomness.
    """
    if not on_host(row):
        from hsd_core.models.gpu.device_rows import pick_on_device

        return pick_on_device(row, uniform())
    import torch

    best = int(likeliest(row[None])[0])
    if float(row[best]) >= 1.0:
        return best
    total = row.double().cumsum(-1)
    at = total[-1:] * uniform()
    token = int(torch.searchsorted(total, at, right=True))  # right=True never picks a token of probability zero
    if token >= row.shape[-1]:  # u * total rounded up to total: the last token with any mass
        token = int(row.nonzero()[-1])
    return token


def dense(dists: Distributions) -> Tensor:
    """(n, V) rows as a tensor."""
    return dists.dense() if isinstance(dists, OneHot) else dists


def entries(dists: Distributions, rows: Sequence[int], columns: Sequence[int]) -> list[float]:
    """distributions[row, column] of each pair; no row is copied."""
    if isinstance(dists, OneHot):
        return [float(dists.ids[row] == column) for row, column in zip(rows, columns, strict=True)]
    found: list[float] = dists[list(rows), list(columns)].tolist()
    return found


def softmax(logits: Tensor) -> Tensor:
    """(n, V) softmax at temperature 1, for confidence and displayed probabilities, also when greedy."""
    return _at_least_float32(logits).softmax(-1)


def likeliest(rows: Tensor) -> Tensor:
    """(n, V) -> (n,) the index of each row's largest entry, the first of equal ones."""
    if not on_host(rows):
        return rows.argmax(-1)
    import torch

    # torch's is not vectorised: 0.03 ms for 8 rows of 49,152 instead of 0.3
    return torch.from_numpy(rows.numpy().argmax(-1))


def largest(rows: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """(n, V) -> (n, k) largest entries of each row, decreasing, and their indices; as `topk`, faster on long rows."""
    if rows.shape[-1] % BLOCK or rows.shape[-1] <= k * BLOCK:
        values, ids = rows.topk(min(k, rows.shape[-1]))
        return values, ids
    blocks = rows.reshape(len(rows), -1, BLOCK)
    chosen = blocks.amax(-1).topk(k).indices  # the k largest entries are in the k blocks with the largest maxima
    values, at = blocks.gather(1, chosen.unsqueeze(-1).expand(-1, -1, BLOCK)).flatten(1).topk(k)
    return values, chosen.gather(1, at // BLOCK) * BLOCK + at % BLOCK


def margins(logits: Tensor) -> Tensor:
    """(n, V) -> (n,) log p1 - log p2 (nats) of each row's two likeliest tokens at temperature 1."""
    best = _at_least_float32(largest(logits, 2)[0])
    return best[:, 0] - best[:, 1]


def shortlists(probs: Tensor, k: int) -> list[list[tuple[int, float]]]:
    """The k likeliest tokens of (n, V) probabilities on the host, decreasing, the first of equal ones first; tokens
    with probability 0 are left out. Overwrites the entries that it returns with -1.

    Row by row and maximum by maximum: a row stays in the processor's cache, and after a pass, which empties it, one
    kernel that greedy decoding uses too is faster than several others.
    """
    found = []
    for row in probs.numpy():
        taken: list[tuple[int, float]] = []
        while len(taken) < k and (chance := row.item(at := int(row.argmax()))) > 0.0:
            taken.append((at, chance))
            row[at] = -1.0
        found.append(taken)
    return found


def finite(logits: Tensor, largest: Sequence[int] | None = None) -> bool:
    """Whether no entry of (n, V) logits is NaN or +inf, and no row is all -inf.

    Only the largest entries are read, in one pass over the rows, as a maximum with NaN is NaN.

    Args:
        largest: their columns, if known on the host.
    """
    if largest is None:
        return math.isfinite(float(logits.amax(-1).sum()))
    item = _at_least_float32(logits).numpy().item
    return all(math.isfinite(item(row, at)) for row, at in enumerate(largest))


def one_hot(ids: Tensor, like: Tensor) -> Tensor:
    """(n,) ids -> (n, V) rows with all mass on one token, in the dtype and on the device of `like` (.., V)."""
    rows = like.new_zeros((ids.shape[0], like.shape[-1]))
    return rows.scatter_(1, ids.unsqueeze(1), 1.0)


def _at_least_float32(logits: Tensor) -> Tensor:
    return logits.float() if logits.element_size() < 4 else logits


def _keep_top_k(logits: Tensor, k: int) -> Tensor:
    # By rank, not by value: exactly k tokens stay, also with ties.
    values, ids = largest(logits, k) if logits.device.type == "cpu" else logits.topk(k, dim=-1)
    return logits.new_full(logits.shape, float("-inf")).scatter_(-1, ids, values)


def _keep_top_p(probs: Tensor, top_p: float) -> Tensor:
    """The smallest set of most likely tokens whose mass reaches top_p, the first of equal ones, renormalised.

    On a CPU a sort takes 8 ms for a row of 49,152, half of a pass. A nucleus mostly has a few tokens, so the `FEW` most
    likely are searched first, then more for the rows that need them.
    """
    import torch

    if probs.device.type != "cpu":
        return _sorted_top_p(probs, top_p)
    kept, left, k = torch.zeros_like(probs), torch.arange(len(probs)), FEW
    while len(left) and k * SHARE < probs.shape[-1]:
        rows = probs if len(left) == len(probs) else probs[left]
        values, ids = largest(rows, k)
        enough = values.sum(-1) >= top_p
        if enough.any():
            at, few, tied = left[enough], *_nucleus(values[enough], top_p)
            kept[at.unsqueeze(-1), ids[enough]] = few
            if tied.any():
                kept[at[tied]] = _above(rows[enough][tied], values[enough][tied], top_p)
        left, k = left[~enough], k * 8
    if len(left):
        kept[left] = _sorted_top_p(probs[left], top_p)
    return kept


def _nucleus(values: Tensor, top_p: float) -> tuple[Tensor, Tensor]:
    """The nucleus within the largest entries of rows (n, k), decreasing: renormalised, the others 0; and (n,) whether a
    token outside may be as likely as its last one, so that the order of equal ones matters."""
    inside = values.cumsum(-1) - values < top_p
    few, count = values.where(inside, 0.0), inside.sum(-1, keepdim=True)
    beyond = values.gather(-1, count.clamp(max=values.shape[-1] - 1))
    tied = (beyond == values.gather(-1, count - 1)).squeeze(-1)
    return few / few.sum(-1, keepdim=True), tied


def _above(rows: Tensor, values: Tensor, top_p: float) -> Tensor:
    """Rows (n, V) cut to their nucleus, which is within their largest entries (n, k), decreasing."""
    count = (values.cumsum(-1) - values < top_p).sum(-1, keepdim=True)
    least = values.gather(-1, count - 1)
    kept = rows.where(rows >= least, 0.0)
    if int((kept > 0).sum()) > int(count.sum()):  # of several equal to the least one the first stay
        ties = rows == least
        kept[ties & (ties.cumsum(-1) > count - (rows > least).sum(-1, keepdim=True))] = 0.0
    return kept.div_(kept.sum(-1, keepdim=True))


def _sorted_top_p(probs: Tensor, top_p: float) -> Tensor:
    values, ids = probs.sort(dim=-1, descending=True, stable=True)
    before = values.cumsum(-1) - values
    values = values.masked_fill(before >= top_p, 0.0)
    values = values / values.sum(-1, keepdim=True)
    return probs.new_zeros(probs.shape).scatter_(-1, ids, values)
