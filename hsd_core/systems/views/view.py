"""A view of a cache: `(base, upto, select, tail)`.

A level with a view attends to selected slots of a *base* cache, those below `upto`, and to a *tail* of its own. The
base belongs to a level above, which computes its positions in full; what a view has beside them are approximations:

    base    0 ............ upto            filled by the level above; read here, never written below `upto`
    view    [ selected of these ][ tail ]  `cache`; slots, of which the tail's stand for positions upto, upto + 1, ...

- **Truth replaces approximation.** `follow(upto)` says that the base's level has verified more: the exact keys and
  values come in, and the tail, computed on less, falls.
- **Frozen while a tree is out.** `follow` is called between rounds alone; otherwise a row could depend on tokens that
  come behind it, and a verifier that judges several rows would not be exact.
- **Rollback** cuts the tail; cut further, `upto` follows, and slots hold again what they held there.

Keys are kept after rotation, so that any subset of positions stays valid, in whatever slots.

    view = View(base, select, own)         # own: decoder.new_cache(select.budget + room for the tail)
    view.follow(n, ask)                    # after the prompt, and after every commit
    given = view.given(ids, wanted, sees)  # ids: those from position view.length on
    x = decoder.forward_layers(given, view.cache, 0, decoder.layers)
    view.grew(len(ids))
    view.keep(start, path)                 # of the tree behind the first `start` tokens

Without `select` a view sees `all` of its base and has no memory: its tail lies in the base's free slots, where the
level above writes the truth over it. Such a view serves a level that leaves out layers or sublayers, which is a matter
of the pass and not of the cache; and `layer` one that reads the keys and values of a single layer, as a draft with
cross-attention does.
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
    """One run's view of a base cache; see the top of the file. Both caches hold one text, in layers of one shape.

    cache: what a pass is given. upto: positions that the base's level has computed. tail: the positions behind them
    that this view has seen. chosen: what is held of the base; None before it is followed, and for `all`.
    """

    def __init__(self, base: KVCache, select: Select | None = None, own: KVCache | None = None) -> None:
        assert (select is None) == (own is None), "a selection has slots of its own, and all has none"
        self.base, self.select = base, select
        self.cache = base if own is None else own
        self.upto = self.tail = 0
        self.chosen: Chosen | None = None

    @property
    def length(self) -> int:
        """Positions of the text that the view stands for."""
        return self.upto + self.tail

    @property
    def fill(self) -> int:
        """Slots in use below the tail."""
        if self.select is None:
            return self.upto
        return 0 if self.chosen is None else min(self.chosen.at.shape[2] + self._newcomers, self.select.budget)

    @property
    def settled(self) -> bool:
        """Whether a pass may be run. A view that was cut below where it chose has to follow its base first."""
        return self.select is None or self.chosen is not None or not self.upto

    def held(self) -> Tensor:
        """(L, G, fill) the positions of the base that slots hold, in each layer and key head."""
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
        """(G, upto, d) keys and values of one layer of the base, those that its level has computed."""
        return self.base.keys[i, 0, :, : self.upto], self.base.values[i, 0, :, : self.upto]

    @torch.inference_mode()
    def follow(self, upto: int, ask: Callable[[], Tensor] | None = None) -> bool:
        """Between two rounds: the base's level has computed so many positions. Returns whether slots were chosen.

        Args:
            ask: gives the queries of the next token, (L, H, d) rotated; called where the selection asks.
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
        # what comes in twice over only its last time
        places = range(max(before, self._newcomers - len(self.chosen.order)), self._newcomers)
        self._put([(self._slot(place), self.chosen.origin + place) for place in places])
        return False

    def given(self, ids: Sequence[int], wanted: int = 1, sees: Branches | None = None) -> Pass:
        """The pass for the inputs at positions `length`, ...; sees: how they hang together, by positions."""
        assert self.settled, "slots were never chosen, or go back behind that; follow the base first"
        ahead = self.upto - self.fill
        moved = None if sees is None else Branches(sees.base - ahead, sees.parents)
        return Pass(ids, self.fill + self.tail, wanted, moved, ahead=ahead)

    def grew(self, count: int) -> None:
        """So many inputs went through all layers."""
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
        """Of the tree behind the first `start` tokens keep the nodes of a path; forget what else lies there.

        In the base's memory nothing is moved: what lies apart there is forgotten.
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
        """Positions of the base that came in behind those that were chosen from."""
        return 0 if self.chosen is None else self.upto - self.chosen.origin

    def _slot(self, place: int) -> int:
        assert self.chosen is not None
        return self.chosen.order[place % len(self.chosen.order)]

    def _put(self, found: Sequence[tuple[int, int | Tensor]]) -> None:
        """Slots with the positions that they are to hold, of all heads or (L, G) of each."""
        if found:
            layers, _, heads = self.base.keys.shape[:3]
            one = torch.empty(layers, heads, dtype=torch.long, device=self.base.keys.device)
            at = torch.stack([one.new_full((layers, heads), at) if isinstance(at, int) else at for _, at in found], 2)
            self._copy([slot for slot, _ in found], at)

    def _copy(self, slots: Sequence[int], at: Tensor) -> None:
        """Into these slots the keys and values of positions (L, G, len(slots)) of the base."""
        index = at[..., None].expand(*at.shape, self.base.keys.shape[-1]).to(self.base.keys.device)
        into, mine = sent(slots, self.cache.keys.device), self.cache
        keys, values = (theirs[:, 0].gather(2, index) for theirs in (self.base.keys, self.base.values))
        for divided, by in ((self.base.divided, 1), (mine.divided, -1)):
            if divided is not None:
                values = values * divided[:, :, None] ** by
        mine.keys[:, 0, :, into] = keys.to(mine.keys.device, mine.keys.dtype)
        mine.values[:, 0, :, into] = values.to(mine.values.device, mine.values.dtype)
