"""Copies of a draft: the token that followed the last occurrence of the context's end, and the weight of that copy.

A small model cannot memorise what a text repeats: names, numbers, the pattern of a list, a quoted passage. So a trained
draft mixes two distributions, as a pointer-generator does (See et al. 2017, arXiv 1704.04368): its own, and the
continuation of the longest suffix of the context that occurs twice (HD's D_c). A gate that is trained with the draft
gives the weights. Both depend on the past only, so the mixture does too, as for any draft.

Names: n positions, C columns of the logits, K hidden.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.gpu.device_text import DeviceText, Mark
from hsd_core.models.gpu.transfer import sent
from hsd_core.models.one_pass import Branches, path_to
from hsd_core.models.sampling import TrimmedLogits
from hsd_core.models.suffixes import Copied, SuffixIndex

LONGEST = 8  # tokens of a suffix that are compared
SORTS = (
    1 + 3 * LONGEST
)  # 0: nothing to copy; then by length: one occurrence, two with the same next token, two that differ
End = tuple[int, int, int]  # of a context: the token to copy, its position, its sort
FLOOR = -12.0  # lower log-probabilities of the draft itself are clamped


class Suffixes:
    """The candidates to copy after every token of one context.

    After `follow`: tokens[t], the guess for position t + 1, places[t], its position (0: none), and sorts[t], one of
    `SORTS`. All depend on the context up to t only.
    """

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.places: list[int] = []
        self.sorts: list[int] = []
        self._index = SuffixIndex(1, LONGEST)

    def follow(self, context: Sequence[int]) -> None:
        """Go to another context; the common beginning is kept."""
        own = self._index.text
        n = min(len(own), len(context))
        if own[:n] != list(context[:n]):
            n = next(i for i in range(n) if own[i] != context[i])
        for kept in (self.tokens, self.places, self.sorts):
            del kept[n:]
        while len(own) > n:
            self._index.drop()
        for token in context[n:]:
            self._add(token)

    def _add(self, token: int) -> None:
        own = self._index.text
        self._index.add(token)
        guess = place = sort = 0
        for length in range(1, min(LONGEST, len(own)) + 1):
            places = self._index.behind(own[-length:])
            if not places:
                break
            place = places[-1]
            guess = own[place]
            before = own[places[-2]] if len(places) > 1 else None
            sort = 3 * length - (2 if before is None else 1 if before == guess else 0)
        self.tokens.append(guess)
        self.places.append(place)
        self.sorts.append(sort)


class Gate(NamedTuple):
    """The weight of a copy. bias: (SORTS,) by sort. state: (K,) by the draft's state.

    scale: (2,) by the log-probabilities that the draft gives its own argmax and the copy.
    """

    bias: Tensor
    state: Tensor
    scale: Tensor

    @classmethod
    def fresh(cls, hidden: int) -> Gate:
        """The start of training: longer suffixes, and those with one continuation, are right more often."""
        found = [[0.5 * length - 2.5, 0.5 * length - 2.0, 0.5 * length - 3.5] for length in range(1, LONGEST + 1)]
        bias = torch.tensor([0.0, *(b for row in found for b in row)])
        return cls(bias, torch.zeros(hidden), torch.tensor([-1.0, 0.0]))


def mixed(logits: Tensor, states: Tensor, columns: Tensor, sorts: Tensor, gate: Gate) -> tuple[Tensor, Tensor]:
    """The log-probabilities of a draft mixed with its copies, and the log-weight of the copies.

    Args:
        logits: (n, C) of the draft itself. states: (n, K) its last states, before the norm. columns: (n,) the logits'
            columns of the tokens to copy. sorts: (n,) see `Suffixes`; rows of sort 0 are not changed.
    Returns:
        (n, C) log((1 - s) q + s [column]), s = sigmoid(gate); (n,) log s for every sort.
    """
    own = logits.log_softmax(-1)
    at = columns[:, None]
    unit = F.rms_norm(states.float(), states.shape[-1:])
    drawn = (unit * gate.state).sum(-1) / states.shape[-1] ** 0.5
    sure = gate.scale[0] * own.amax(-1) + gate.scale[1] * own.gather(1, at)[:, 0].clamp_min(FLOOR)
    share = gate.bias[sorts] + drawn + sure
    copies = sorts > 0
    rest = own + torch.where(copies, F.logsigmoid(-share), 0.0)[:, None]
    left, drawn_copy = rest.gather(1, at)[:, 0], F.logsigmoid(share)
    return rest.scatter(1, at, torch.where(copies, torch.logaddexp(left, drawn_copy), left)[:, None]), drawn_copy


def _log_sigmoid(x: float) -> float:
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


def _log_of_sum(a: float, b: float) -> float:
    """log(e^a + e^b), b finite."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


class Copier:
    """The copies of one run of a draft.

    Args:
        gate: of the next token. further: of the tokens after it, for a draft of several tokens in one pass.
    """

    def __init__(self, gate: Gate, *further: Gate) -> None:
        self._gates, self._suffixes = (gate, *further), Suffixes()
        self._shares: Tensor | Sequence[float] = ()  # of the copies in their tokens' probabilities, logarithms
        self._ends: Sequence[End] = ()
        self._ahead = False  # whether those are of successive positions after the end
        self._numbers: list[tuple[list[float], list[float]]] = []  # the gates as numbers, for mixing on the host

    def mix_trimmed(
        self,
        context: Sequence[int],
        own: np.ndarray,
        drawn: Sequence[float],
        places: Sequence[int],
        ids: Tensor,
        vocab: int,
        branches: Branches | None = None,
        begun: int | None = None,
    ) -> TrimmedLogits:
        """As `mix`, for a head with R of `vocab` tokens, on the host: number by number, and without torch, whose
        operations take several times as long for so few numbers.

        Args:
            own: (n, R) log-probabilities of the draft itself. drawn: (n,) the gate's term from its states. places:
            token -> its column, R for one that the head lacks. ids: (R,) tokens.
        Returns:
            n rows over the tokens of the head and the copied ones.
        """
        shares, rows = list[float](), list[tuple[Tensor, Tensor]]()
        tokens, sorts = self._find(context, len(own), branches, begun)
        if not self._numbers:
            self._numbers = [(gate.bias.tolist(), gate.scale.tolist()) for gate in self._gates]
        for t, (row, by_state) in enumerate(zip(own, drawn, strict=True)):
            token, sort, among = tokens[t], sorts[t], ids
            if sort:
                bias, (by_first, by_copy) = self._numbers[0 if begun is None else begun + t]
                column = places[token]
                copy = float(row[column]) if column < len(ids) else -math.inf
                share = bias[sort] + by_state + by_first * float(row.max()) + by_copy * max(copy, FLOOR)
                rest, copied = _log_sigmoid(-share), _log_sigmoid(share)
                mixed_row = row + np.float32(rest)
                if column == len(ids):  # the head lacks it
                    column = int(np.searchsorted(ids.numpy(), token))
                    mixed_row = np.insert(mixed_row, column, 0.0)
                    among = torch.from_numpy(np.insert(ids.numpy(), column, token))
                mixed_row[column] = both = _log_of_sum(copy + rest, copied)
                shares.append(copied - both)
            else:
                mixed_row = row.copy()
                shares.append(-math.inf)
            rows.append((torch.from_numpy(mixed_row), among))
        self._shares = shares
        return TrimmedLogits(rows, vocab)

    def mix(
        self,
        context: Sequence[int],
        logits: Tensor,
        states: Tensor,
        branches: Branches | None = None,
        begun: int | None = None,
    ) -> Tensor:
        """The (n, C) rows after the context's last n tokens with copies mixed in: see `mixed`; columns are ids here.

        begun: the rows are of n successive positions after the context instead, with the gates from this one on.
        """
        columns, sorts = (sent(x, logits.device) for x in self._find(context, len(logits), branches, begun))
        if begun is None:
            dist, share = mixed(logits, states, columns, sorts, self._gates[0])
        else:
            rows = (slice(i, i + 1) for i in range(len(logits)))
            parts = [
                mixed(logits[row], states[row], columns[row], sorts[row], gate)
                for row, gate in zip(rows, self._gates[begun:], strict=False)
            ]
            dist, share = (torch.cat(part) for part in zip(*parts, strict=True))
        self._shares = share - dist.gather(1, columns[:, None])[:, 0]
        return dist

    def _find(
        self, context: Sequence[int], n: int, branches: Branches | None, begun: int | None
    ) -> tuple[list[int], list[int]]:
        """The candidates to copy after the last n inputs, and their sorts; in a tree each input follows its path.

        For n positions after the end the copy continues from its origin, and starts there again at the end of the text.
        """
        found, end, self._ahead = self._suffixes, len(context), begun is not None
        if begun is not None:
            found.follow(context)
            place, sort = found.places[-1], found.sorts[-1]
            origins = [place + by % (end - place) for by in range(n)]
            self._ends = [(context[at], at, sort) for at in origins]
        elif branches is None or end <= branches.base:
            found.follow(context)
            self._ends = list(
                zip(found.tokens[end - n :], found.places[end - n :], found.sorts[end - n :], strict=True)
            )
        else:
            line, self._ends = context[: branches.base], []
            for slot in range(end - n, end):
                path = path_to(slot - branches.base, branches.parents)
                found.follow([*line[: slot + 1], *(context[branches.base + node] for node in path)])
                self._ends.append((found.tokens[-1], found.places[-1], found.sorts[-1]))
        return [token for token, _, _ in self._ends], [sort for _, _, sort in self._ends]

    def copied(self, token: int, row: int = -1) -> Copied | None:
        """The origin of `token`, drawn from this row of the last `mix`, if it is a copy."""
        copy, place, sort = self._ends[row] if self._ends else (0, 0, 0)
        if not sort or token != copy:
            return None
        share = math.exp(self._shares[row])
        # later positions were not compared, as the tokens before them were unknown
        alike = 0 if self._ahead and row > 0 else (sort + 2) // 3
        return Copied(place, alike, min(1.0, share))


class DeviceCopier(Copier):
    """The same on a device, for contexts whose last tokens the host may not know. `mark`: the copy of the last row."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(gate)
        self._text = DeviceText(LONGEST, gate.bias.device)
        self.mark: Mark | None = None

    def mix(
        self,
        context: Sequence[int],
        logits: Tensor,
        states: Tensor,
        branches: Branches | None = None,
        begun: int | None = None,
    ) -> Tensor:
        """See `Copier.mix`. A single row without a tree is mixed without waiting for the device."""
        if len(logits) > 1 or branches is not None or begun is not None:
            return super().mix(context, logits, states, branches, begun)
        token, place, sort, alike = self._text.last(context)
        dist, share = mixed(logits, states, token.view(1), sort.view(1), self._gates[0])
        self.mark = Mark(token, place, alike, share[0])
        return dist


def copier(gate: Gate, *further: Gate) -> Copier:
    """A copier for one run of a draft, on the device of its gates. With several tokens a pass the host knows the whole
    context."""
    return Copier(gate, *further) if further or gate.bias.device.type == "cpu" else DeviceCopier(gate)


def mark_of(copies: Copier) -> Mark | None:
    """The copy of the last row on a device; None on the host."""
    return copies.mark if isinstance(copies, DeviceCopier) else None
