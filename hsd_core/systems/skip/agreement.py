"""How often the target without some sublayers chooses the target's token, along texts that the target wrote.

Each token is read as the first of a draft: its keys and values before are the target's, and its one input goes through
the remaining sublayers (as Draft & Verify, arXiv 2309.08168, reads prefixes). All tokens of all texts go through a
sublayer as one batch, and the sublayers below the first difference are not run again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hsd_core.measure.teacher_forced import first_choices, last_states
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.layers import attention
from hsd_core.models.lean.sublayers import ATTENTION, BOTH, NONE, Sublayers


@dataclass(frozen=True, slots=True)
class _Text:
    """The target's keys and values of a text, (L, 1, G, slots, d), and the mask of each judged place, (places, slots)
    bool: later slots are hidden, and its own, which the draft computes itself."""

    keys: Tensor
    values: Tensor
    hidden: Tensor


class SublayerAgreement:
    """Texts that the full target has read once, to be read again without sublayers. places: tokens judged."""

    @torch.inference_mode()
    def __init__(self, decoder: LeanDecoder, texts: Sequence[tuple[Sequence[int], int]], every: int = 1) -> None:
        """
        Args:
            texts: ids, and the index from which on the target wrote them. every: judge every n-th token.
        """
        self._decoder, self._texts = decoder, list[_Text]()
        inputs, at, true = list[int](), list[int](), list[Tensor]()
        for ids, start in texts:
            cache = decoder.new_cache(len(ids))
            states = last_states(decoder, ids, cache)
            places = torch.arange(start - 1, len(ids) - 1, every)
            true.append(first_choices(decoder, states[places]))
            hidden = torch.arange(len(ids))[None] >= places[:, None]
            self._texts.append(_Text(cache.keys, cache.values, hidden))
            inputs += [ids[place] for place in places.tolist()]
            at += places.tolist()
        self._true, self._embedded = torch.cat(true), decoder.embed(inputs)
        self._turns = [(cos[at, None], sin[at, None]) for cos, sin in decoder.stack.rotaries]
        self._known: tuple[Sublayers, dict[tuple[str, int], Tensor]] = (NONE, {})

    @property
    def places(self) -> int:
        return len(self._true)

    def sublayers(self) -> Iterator[tuple[str, int]]:
        """All (kind, layer), in the order in which they run."""
        yield from ((kind, layer) for layer in range(self._decoder.layers) for kind in BOTH)

    @torch.inference_mode()
    def begin(self, without: Sublayers) -> float:
        """Read all texts without these sublayers, and keep the input of every sublayer; the agreement with the target,
        0 to 1."""
        before: dict[tuple[str, int], Tensor] = {}
        x = self._embedded
        for kind, layer in self.sublayers():
            before[kind, layer] = x
            x = self._through(kind, layer, x, without)
        self._known = without, before
        return self._agreement(x)

    @torch.inference_mode()
    def also_without(self, kind: str, layer: int) -> float:
        """The agreement with one more sublayer left out than in `begin`."""
        without, before = self._known
        x, reached = before[kind, layer], False
        for one in self.sublayers():
            if reached:
                x = self._through(*one, x, without)
            reached = reached or one == (kind, layer)
        return self._agreement(x)

    def _agreement(self, x: Tensor) -> float:
        return float((first_choices(self._decoder, x) == self._true).double().mean())

    def _through(self, kind: str, layer: int, x: Tensor, without: Sublayers) -> Tensor:
        stack = self._decoder.stack
        if kind == ATTENTION:
            cos, sin = self._turns[stack.kinds[layer]]
            return x if layer in without.attention else x + stack.attended(layer, x, cos, sin, self._attend)
        return x if layer in without.mlp else stack.mixed(layer, x)

    def _attend(self, i: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention of each input to the target's keys before it and its own: (n, H, d) of (n, H, d), (n, G, d)
        twice."""
        s, found, lo = self._decoder.shape, list[Tensor](), 0
        group = s.heads // s.kv_heads
        for text in self._texts:
            n, slots = text.hidden.shape
            mine = slice(lo, lo + n)
            keys, values = text.keys[i, 0, :, :slots], text.values[i, 0, :, :slots]
            # own keys follow the others, each visible to its own input only
            all_keys = torch.cat((keys, k[mine].transpose(0, 1)), 1)[None]
            all_values = torch.cat((values, v[mine].transpose(0, 1)), 1)[None]
            mask = torch.zeros(n, slots + n)
            hidden = text.hidden
            if s.windows and s.windows[i]:
                places = slots - hidden.sum(1, keepdim=True)
                hidden = hidden | (torch.arange(slots) <= places - s.windows[i])
            mask.masked_fill_(torch.cat((hidden, ~torch.eye(n, dtype=torch.bool)), 1), float("-inf"))
            rows = q[mine].transpose(0, 1).reshape(1, s.kv_heads, group * n, s.head_size)
            a = attention(rows, all_keys, all_values, mask.repeat(group, 1)[None, None])
            found.append(a.reshape(s.heads, n, s.head_size).transpose(0, 1))
            lo += n
        return torch.cat(found)
