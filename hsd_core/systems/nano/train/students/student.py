"""The model in training: in-projection, one or two of the target's layers, norm, trimmed head.

One class serves every draft. An exit reads the target's state after `at` layers; a nano model reads the token
embeddings (depth 0). A fed draft also reads the target's last state of the position before (EAGLE, arXiv 2401.15077),
or several of its states joined (EAGLE-3, arXiv 2503.01840). A draft that predicts several tokens in one pass reads
learned inputs for the unknown tokens together with the last known state (P-EAGLE's idea, arXiv 2602.01469); one without
layers has a head for each (Medusa). The layers start as copies of the target's last ones, and the in-projection is
initialized by ridge regression from the student's inputs to the inputs of those layers in the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hsd_core.models.drafts.copying import Gate, mixed
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.positions import rotary_tables
from hsd_core.systems.nano.train.recipes import DraftShape
from hsd_core.systems.nano.train.students.draft_layers import CrossedLayer, Seen, StudentHead, StudentLayer, later
from hsd_core.systems.nano.train.students.state_layer import StateStudentLayer

NEVER = -1e4  # a logit of probability 0; finite, so that no loss multiplies 0 by infinity
RIDGE = 1e-2  # as a share of the mean square of the normalised inputs


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts of similar length, padded at the end.

    x: (B, S, hidden) the student's input. fed: (B, S, F hidden) F states of the position before, or None. last:
    (B, S, hidden) the target's last state, which gives its distribution. wanted: (B, S) where the loss counts. ids:
    (B, S) the texts. tokens, sorts, places: (B, S) what could be copied there, the sort of its match, and its place
    (see `copying.py`). under: (B, S, hidden) the states before the target's last layer, for a draft that attends to its
    keys and values. shift: the distance from a draft's first token to the last of these that it sees. at: (S,) position
    numbers; None: 0, 1, ...
    """

    x: Tensor
    fed: Tensor | None
    last: Tensor
    wanted: Tensor
    ids: Tensor
    tokens: Tensor
    sorts: Tensor
    places: Tensor
    under: Tensor | None = None
    shift: int = 1
    at: Tensor | None = None

    @property
    def first(self) -> int:
        """The first position at which any text has a loss."""
        return int(self.wanted.any(0).nonzero()[0])

    def begun(self, by: int) -> Tensor:
        """(B, S) where the loss counts for a draft's token `by` behind its first: the draft must begin in the target's
        output too."""
        return self.wanted & later(self.wanted[..., None].int(), by)[..., 0].bool()

    def copied(self, by: int) -> tuple[Tensor, Tensor]:
        """(B, S) `tokens` and `sorts` for the token `by` behind the next one: the text from the copied place on,
        repeated where it ends."""
        if not by:
            return self.tokens, self.sorts
        t = torch.arange(self.ids.shape[1], device=self.ids.device)
        behind = self.places + by % (t + 1 - self.places)
        tokens, sorts = self.ids.gather(1, behind), self.sorts
        return later(tokens[..., None], by)[..., 0], later(sorts[..., None], by)[..., 0]


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies offered at the n positions of a batch that count.

    columns: (n,) the token's row of the trimmed head, or R if the head lacks it. sorts: (n,) of the matches. rows:
    (n, hidden) the target's head rows for the tokens. gate: index of the copy gate.
    """

    columns: Tensor
    sorts: Tensor
    rows: Tensor
    gate: int = 0


class Student(nn.Module):
    """A draft in training. Its distributions have R + 1 columns; the last is the token to copy if the trimmed head
    lacks it.

    Args:
        decoder: the target, whose head is shared and frozen. draft: the shape (for initial weights see `_start`). ids:
            the rows of the trimmed head.
    """

    ids: Tensor
    head: Tensor
    column_of: Tensor
    cos: Tensor
    sin: Tensor
    target_norm: Tensor

    def __init__(self, decoder: LeanDecoder, draft: DraftShape, ids: Sequence[int]) -> None:
        super().__init__()
        shape = decoder.shape
        self.shape, self.fed, self.ahead, self.eps = draft, draft.fed, draft.ahead, shape.norm_eps
        self.at, self.joined = draft.depth(decoder.layers), draft.joined(decoder.layers)
        self.register_buffer("ids", torch.tensor(ids, dtype=torch.long))
        self.register_buffer("head", decoder.head_rows(ids), persistent=False)
        column_of = torch.full((decoder.vocab_size,), len(ids))
        column_of[self.ids] = torch.arange(len(ids))
        self.register_buffer("column_of", column_of, persistent=False)
        self._rows_of = decoder.head_rows
        cos, sin = rotary_tables(shape)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.register_buffer("target_norm", decoder.last_norm.float().clone(), persistent=False)
        gates = [Gate.fresh(shape.hidden)._asdict() for _ in range(draft.ahead)]
        stacked = {part: torch.stack([gate[part] for gate in gates]) for part in Gate._fields}
        self.copy = nn.ParameterDict(stacked if draft.ahead > 1 else gates[0])
        self.layers, self.heads = nn.ModuleList(), nn.ModuleList()
        if not draft.layers:
            inner = draft.mlp_width or decoder.layer_tensors(0)["down"].shape[1]
            for place in range(draft.ahead):
                self.heads.append(StudentHead(shape.hidden, inner, decoder.last_norm, shape.norm_eps, place))
            return
        self.read = nn.Parameter(torch.zeros(shape.hidden, shape.hidden * (2 if draft.fed else 1)))
        if draft.gated:
            self.mix = nn.Parameter(torch.zeros(shape.hidden, shape.hidden * 2))
        self.norm = nn.Parameter(decoder.last_norm.float().clone())
        if self.joined:  # starts as the draft that is fed the deepest of them only
            parts = [torch.zeros(shape.hidden, shape.hidden * (len(self.joined) - 1)), torch.eye(shape.hidden)]
            self.join = nn.Parameter(torch.cat(parts, 1))
        if draft.ahead > 1:
            chance = torch.Generator().manual_seed(0)
            self.unknown = nn.Parameter(torch.randn(draft.ahead - 1, shape.hidden, generator=chance))
        for i in range(decoder.layers - draft.layers, decoder.layers):
            given = _start(decoder, i, draft.mlp_width)
            sizes = shape.hidden, shape.heads, shape.kv_heads, shape.head_size, given["down"].shape[1]
            layer: StudentLayer
            if draft.window:
                layer = CrossedLayer(*sizes, shape.norm_eps, draft.window)
                layer.begin_as(given)
            elif draft.states:
                layer = StateStudentLayer(*sizes, shape.norm_eps)
                layer.begin_as(given)
            else:
                layer = StudentLayer(*sizes, shape.norm_eps)
                layer.load_state_dict(given)
            self.layers.append(layer)

    def drafted(self, batch: Batch, count: int) -> Iterator[Tensor]:
        """The student's last states g (B, S - first, hidden) at the positions from the first that counts on: for the
        first token of a draft, the second, up to `count`. A draft that is not fed yields only the first.

        A draft that predicts several tokens in one pass yields `ahead`; others continue from their own states.
        """
        first, fed = batch.first, None if batch.fed is None else self.join_states(batch.fed)
        if self.heads:
            assert fed is not None
            x = self._normal(fed)
            for by, head in enumerate(self.heads[:count]):
                yield head(later(x, by)[:, first:])
            return
        if batch.under is not None:
            (crossed,) = self.layers
            assert isinstance(crossed, CrossedLayer)
            cos, sin = (self.cos, self.sin) if batch.at is None else (self.cos[batch.at], self.sin[batch.at])
            y = self.read_in(batch.x, None)
            for by in range(count):
                yield crossed.drafted(y, batch.under, cos, sin, first, batch.shift + by)
            return
        if self.shape.masked:
            yield from (y for y in self.filled(batch, [False] * (self.ahead - 1))[:count] if y is not None)
            return
        x, seen = batch.x, [Seen() for _ in self.layers]
        y = self.read_in(x, fed)
        for i, (layer, kept) in enumerate(zip(self.layers, seen, strict=True)):
            y = layer(y, self.cos, self.sin, first if i == len(self.layers) - 1 else 0, kept)
        yield y
        for by in range(1, count if fed is not None else 1):
            assert fed is not None
            if self.ahead > 1:
                known = self.unknown[by - 1].expand(len(x), x.shape[1] - first, -1)
                y = self.read_in(known, later(fed, by)[:, first:])
            else:
                y = self.read_in(x[:, first:], torch.cat((fed[:, first : first + 1], y[:, :-1]), 1))
            for layer, kept in zip(self.layers, seen, strict=True):
                assert isinstance(layer, StudentLayer)
                y = layer.again(y, self.cos, self.sin, first, kept)
            yield y

    def filled(self, batch: Batch, known: Sequence[bool]) -> list[Tensor | None]:
        """As `drafted`, of a masked draft with one layer: for each cell of a block its states, None for a known cell.

        known: of the first ahead - 1 cells, which are inputs: those that hold the text's own tokens.
        """
        first, fed, (layer,) = batch.first, batch.fed, self.layers
        assert fed is not None and isinstance(layer, StudentLayer)
        s, read = batch.x.shape[1], self.read_in(batch.x, fed)
        block, begun = [read[:, first:]], fed[:, first:]
        for by, held in enumerate(known):
            x = F.pad(batch.x, (0, 0, 0, by + 1))[:, first + by + 1 :] if held else self.unknown[by].expand_as(begun)
            block.append(self.read_in(x, begun))
        wanted = [by for by in range(len(block)) if by == len(known) or not known[by]]
        made = layer.in_blocks(read, block, wanted, self.cos, self.sin, first)
        found: list[Tensor | None] = [None] * len(block)
        for by, y in zip(wanted, made, strict=True):
            found[by] = later(y, by)
        assert all(y is None or y.shape[1] == s - first for y in found)
        return found

    def join_states(self, fed: Tensor) -> Tensor:
        """(.., F hidden) states -> (.., hidden), joined; a single state is unchanged."""
        if not self.joined:
            return fed
        parts = fed.float().chunk(len(self.joined), -1)
        return F.linear(torch.cat([self._normal(part) for part in parts], -1), self.join)

    def inputs(self, x: Tensor, fed: Tensor | None) -> Tensor:
        """The in-projection's input: (.., hidden) or (.., 2 hidden), each part normalised to a mean square of 1."""
        x = self._normal(x)
        return x if fed is None else torch.cat((x, self._normal(fed)), -1)

    def read_in(self, x: Tensor, fed: Tensor | None) -> Tensor:
        """(.., hidden) the first layer's input: a product of both inputs, or mixed by an elementwise gate (Dovetail's
        DGF, arXiv 2412.18934): z h + (1 - z) e with h = W1 fed, e = silu(W2 x), z = sigmoid(Wz [h; e])."""
        both = self.inputs(x, fed)
        if not self.shape.gated:
            return F.linear(both, self.read)
        (x, fed), (of_x, of_fed) = both.chunk(2, -1), self.read.chunk(2, 1)
        e, h = F.silu(F.linear(x, of_x)), F.linear(fed, of_fed)
        z = torch.sigmoid(F.linear(torch.cat((h, e), -1), self.mix))
        return z * h + (1 - z) * e

    def starts(self, batch: Batch) -> Tensor:
        """(B, S, width) inputs of the in-projection, or of the first head, from the target's states."""
        fed = None if batch.fed is None else self.join_states(batch.fed)
        if self.heads:
            assert fed is not None
            return self._normal(fed)
        return self.inputs(batch.x, fed)

    def _normal(self, x: Tensor) -> Tensor:
        return F.rms_norm(x.float(), (x.shape[-1],), eps=self.eps)

    def copies(self, batch: Batch, by: int = 0, known: int = 0) -> Copies:
        """The copies that a batch offers for a draft's token `by` behind its first (see `Batch.begun`). A draft that
        predicts all tokens in one pass has read only the first `known` of its earlier ones."""
        gate = by - known if self.ahead > 1 else 0
        (tokens, sorts), counts = batch.copied(gate), batch.begun(by)
        tokens = tokens[counts]
        return Copies(self.column_of[tokens], sorts[counts], self._rows_of(tokens).to(self.head), gate)

    def logits(self, g: Tensor, copies: Copies) -> Tensor:
        """g (n, hidden) -> (n, R + 1) log-probabilities."""
        norm = self.heads[copies.gate].norm if self.heads else self.norm
        assert isinstance(norm, Tensor)
        own = F.linear(F.rms_norm(g, (g.shape[-1],), norm, self.eps), self.head)
        parts = (self.copy[part] for part in Gate._fields)
        gate = Gate(*(part[copies.gate] if self.ahead > 1 else part for part in parts))
        return mixed(F.pad(own, (0, 1), value=NEVER), g, copies.columns, copies.sorts, gate)[0]

    def says(self, logits: Tensor, batch: Batch, by: int = 0) -> Tensor:
        """(n,) the likeliest token of each row of `logits`, at the positions of `copies`; -1 for the last column if
        nothing is copied."""
        tokens, sorts = batch.copied(by if self.ahead > 1 else 0)
        counts, columns = batch.begun(by), logits.argmax(-1)
        copied = torch.where(sorts[counts] > 0, tokens[counts], -1)
        return torch.where(columns == len(self.head), copied, self.ids[columns.clamp_max(len(self.head) - 1)])

    def target_own(self, last: Tensor) -> tuple[Tensor, Tensor]:
        """The target's normalised last states (n, hidden), and its logits over the trimmed head, (n, R)."""
        x = F.rms_norm(last.float(), (last.shape[-1],), self.target_norm, self.eps)
        return x, F.linear(x, self.head)

    def target_logits(self, x: Tensor, own: Tensor, copies: Copies) -> Tensor:
        """The target's logits over the same columns as `logits`, from `target_own`."""
        lacking = (copies.columns == len(self.head)) & (copies.sorts > 0)
        one_more = (x * copies.rows).sum(-1).where(lacking, NEVER)
        return torch.cat((own, one_more[:, None]), -1)

    @torch.no_grad()
    def start_from(self, pairs: Sequence[tuple[Tensor, Tensor]]) -> None:
        """Fit the in-projection, or the heads' products, by ridge regression. pairs: for each text the inputs
        (n, width) and the wanted outputs (n, hidden): the first layer's inputs, or the last states, which head k takes
        k positions further on."""
        for by, read in enumerate([head.read for head in self.heads] or [self.read]):
            assert isinstance(read, Tensor)
            wide, width = read.shape
            xx, xy = torch.zeros(width, width), torch.zeros(width, wide)
            for x, y in pairs:
                x, y = x[: len(x) - by], y[by:].float()
                xx += x.T @ x
                xy += x.T @ y
            xx += RIDGE * xx.diagonal().mean() * torch.eye(width)
            read.copy_(torch.linalg.solve(xx, xy).T)
        if self.shape.gated:
            self.read.mul_(2)  # the gate begins with a half of each


def _start(decoder: LeanDecoder, i: int, mlp_width: int | None) -> dict[str, Tensor]:
    """The initial weights of a student's layer: the target's layer i in float32, with its MLP made wider or narrower.

    A narrower MLP keeps the neurons with the largest weights. A wider one adds neurons of the layers before with zero
    output: it starts as the target's, and no two neurons start equal.
    """
    given = {name: tensor.float() for name, tensor in decoder.layer_tensors(i).items()}
    own = given["down"].shape[1]
    if mlp_width is None or mlp_width == own:
        return given
    if mlp_width < own:
        gate, up = given["gate_up"].chunk(2)
        size = gate.norm(dim=1) * up.norm(dim=1) * given["down"].norm(dim=0)
        kept = size.topk(mlp_width).indices.sort().values
        return given | {"gate_up": torch.cat((gate[kept], up[kept])), "down": given["down"][:, kept]}
    others = [decoder.layer_tensors((i - n) % decoder.layers)["gate_up"].float() for n in range(-(-mlp_width // own))]
    halves = zip(*(other.chunk(2) for other in others), strict=True)
    return given | {
        "gate_up": torch.cat([torch.cat(half)[:mlp_width] for half in halves]),
        "down": F.pad(given["down"], (0, mlp_width - own)),
    }
