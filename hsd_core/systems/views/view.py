"""A view of a cache: `(base, upto, select, tail)`.

A level with a view attends to selected positions of a *base* cache, those below `upto`, and to a *tail* of its own. The
base belongs to a level above, which computes its positions exactly; the view's own tail is an approximation:

    base    0 ............ upto            filled by the level above; read here, never written below `upto`
    view    [ selected of these ][ tail ]  `cache`; slots, of which the tail's stand for positions upto, upto + 1, ...

- **Exact values replace approximations.** `follow(upto)`: the base's level has verified more; its exact keys and values
  are copied, and the tail is dropped.
- **Frozen during a round.** `follow` is called only between rounds; otherwise a row could depend on later tokens, and a
  verifier that judges several rows would not be exact.
- **Rollback** cuts the tail; a cut below `upto` lowers `upto`, and slots are restored to what they held there.

Keys are stored after rotation, so that any subset of positions is valid in any slots.

    view = View(base, select, own)         # own: decoder.new_cache(select.budget + room for the tail)
    view.follow(n, ask)                    # after the prompt, and after every commit
    given = view.given(ids, wanted, sees)  # ids: those from position view.length on
    x = decoder.forward_layers(given, view.cache, 0, decoder.layers)
    view.grew(len(ids))
    view.keep(start, path)                 # of the tree behind the first `start` tokens

Without `select` a view sees `all` of its base and has no cache: its tail is in the base's free slots, where the level
above overwrites it with exact values. Such a view is for a level that leaves out layers or sublayers; `layer` is for
one that reads the keys and values of a single layer, as a draft with cross-attention does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from hsd_core.models.cache import KVCache
from hsd_core.models.gpu.transfer import sent
from hsd_core.models.one_pass import Branches, Pass, in_order
from hsd_core.systems.views.selection import Chosen, Select


class View:
    """One run's view of a base cache; see the module. Both caches hold the same text, in layers of the same shape.

    cache: for passes. upto: positions that the base's level has computed. tail: the number of positions behind them
    that this view has computed. chosen: the selection; None before `follow`, and for `all`.
    """

    def __init__(self, base: KVCache, select: Select | None = None, own: KVCache | None = None) -> None:
        assert (select is None) == (own is None), "a selection has slots of its own, and all has none"
        self.base, self.select = base, select
        self.cache = base if own is None else own
        self.upto = self.tail = 0
        self.chosen: Chosen | None = None

    @property
    def length(self) -> int:
        """The number of positions of the text that the view represents."""
        return self.upto + self.tail

    @property
    def fill(self) -> int:
        """Slots in use below the tail."""
        if self.select is None:
            return self.upto
        return 0 if self.chosen is None else min(self.chosen.at.shape[2] + self._newcomers, self.select.budget)

    @property
    def settled(self) -> bool:
        """Whether a pass may be run. A view that was cut below its selection has to follow its base first."""
        return self.select is None or self.chosen is not None or not self.upto

    def held(self) -> Tensor:
        """(L, G, fill) the position of the base in each slot, by layer and key head."""
        if self.chosen is None:
            layers, _, heads = self.base.keys.shape[:3]
            return torch.arange(self.fill, device=self.base.keys.device).expand(layers, heads, -1)
        found = torch.zeros(*self.chosen.at.shape[:2], self.fill, dtype=torch.long, device=self.chosen.at.device)
        found[..., : self.chosen.at.shape[2]] = self.chosen.at
        for place, slot in enumerate(self.chosen.order):
            if (at := self.chosen.position(slot, place, self._newcomers)) is not None:
                found[..., slot] = at
        return found

    def layer(self, i: int) -> tuple[Tensor, Tensor]:
        """(G, upto, d) keys and values of one layer of the base, as far as its level has computed them."""
        return self.base.keys[i, 0, :, : self.upto], self.base.values[i, 0, :, : self.upto]

    @torch.inference_mode()
    def follow(self, upto: int, ask: Callable[[], Tensor] | None = None) -> bool:
        """Between two rounds: the base's level has computed `upto` positions. Returns whether a selection was made.

        Args:
            ask: gives the next token's queries, (L, H, d) rotated; called if the selection needs them.
        """
        if upto < self.upto:
            self.cut(upto)
        if upto == self.upto and self.settled:
            return False
        before, self.upto, self.tail = self._newcomers, upto, 0
        if self.select is None:
            return False
        if self.chosen is None:
            queries = ask() if self.select.asks and ask is not None and upto > self.select.budget else None
            self.chosen = self.select.choose(self.base.keys[:, 0, :, :upto], queries)
            self._copy(range(self.chosen.at.shape[2]), self.chosen.at)
            return True
        # of positions that take the same slot only the last is copied
        places = range(max(before, self._newcomers - len(self.chosen.order)), self._newcomers)
        self._put([(self._slot(place), self.chosen.origin + place) for place in places])
        return False

    def given(self, ids: Sequence[int], wanted: int = 1, sees: Branches | None = None) -> Pass:
        """The pass for inputs at positions `length`, ...; sees: their tree, by positions."""
        assert self.settled, "nothing is selected, or the view was cut below its selection; follow the base first"
        ahead = self.upto - self.fill
        moved = None if sees is None else Branches(sees.base - ahead, sees.parents)
        return Pass(ids, self.fill + self.tail, wanted, moved, ahead=ahead)

    def grew(self, count: int) -> None:
        """`count` inputs went through all layers."""
        self.tail += count

    def cut(self, length: int) -> None:
        """Forget every position from `length` on."""
        if length >= self.upto:
            self.tail = min(self.tail, length - self.upto)
            return
        before, self.upto, self.tail = self._newcomers, length, 0
        if self.chosen is None:
            return
        if length < self.chosen.origin:
            self.chosen = None
            return
        initial = self.chosen.at.shape[2]
        back: list[tuple[int, int | Tensor]] = []
        for newest in range(max(self._newcomers, before - len(self.chosen.order)), before):
            place = newest % len(self.chosen.order)
            slot = self._slot(place)
            at = self.chosen.position(slot, place, self._newcomers)
            if at is not None:
                back.append((slot, at))
            elif slot < initial:
                back.append((slot, self.chosen.at[:, :, slot]))
        self._put(back)

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Keep the nodes of a path of the tree behind the first `start` tokens, and forget the others.

        In the base's memory nothing is moved: nodes that are not consecutive are forgotten.
        """
        mine = [node for node in path if start + node < self.length]
        if start >= self.upto and not in_order(mine):
            if self.select is None:
                mine = []
            else:
                self.cache.move(self.fill + start - self.upto, mine)
        self.cut(start + len(mine))

    @property
    def _newcomers(self) -> int:
        """The number of positions of the base since the selection."""
        return 0 if self.chosen is None else self.upto - self.chosen.origin

    def _slot(self, place: int) -> int:
        assert self.chosen is not None
        return self.chosen.order[place % len(self.chosen.order)]

    def _put(self, found: Sequence[tuple[int, int | Tensor]]) -> None:
        """Fill slots with positions, the same for all heads or (L, G) for each."""
        if found:
            layers, _, heads = self.base.keys.shape[:3]
            one = torch.empty(layers, heads, dtype=torch.long, device=self.base.keys.device)
            at = torch.stack([one.new_full((layers, heads), at) if isinstance(at, int) else at for _, at in found], 2)
            self._copy([slot for slot, _ in found], at)

    def _copy(self, slots: Sequence[int], at: Tensor) -> None:
        """Copy the keys and values of positions (L, G, len(slots)) of the base into these slots."""
        index = at[..., None].expand(*at.shape, self.base.keys.shape[-1]).to(self.base.keys.device)
        into, mine = sent(slots, self.cache.keys.device), self.cache
        keys, values = (theirs[:, 0].gather(2, index) for theirs in (self.base.keys, self.base.values))
        for divided, by in ((self.base.divided, 1), (mine.divided, -1)):
            if divided is not None:
                values = values * divided[:, :, None] ** by
        mine.keys[:, 0, :, into] = keys.to(mine.keys.device, mine.keys.dtype)
        mine.values[:, 0, :, into] = values.to(mine.values.device, mine.values.dtype)
