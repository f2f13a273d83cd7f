"""The model that is trained: in-projection, one or two of the target's layers, norm, trimmed head.

One shape serves every draft. An exit reads the target's state after `at` layers; a nano model reads depth 0, the token
embeddings; fed, it also reads the target's last state of the position before (EAGLE, arXiv 2401.15077). Nothing
starts from noise: the layers are copies of the target's last ones, and the in-projection is the ridge regression from
what the student reads to what those layers read in the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hsd_core.drafts.copying import Gate, mixed
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.rotary import rotary_tables

NEVER = -1e4  # a logit whose probability is 0; finite, so that no distance multiplies 0 by infinity
RIDGE = 1e-2  # of the mean square of the inputs, which are normalised


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts of similar length, padded at the end.

    x: (B, S, hidden) what the student reads. fed: (B, S, hidden) the last state of the position before, or None.
    last: (B, S, hidden) the target's last state: its distribution at each position. wanted: (B, S) where the loss
    counts. tokens, sorts: (B, S) what could be copied there, and how it was found (see `drafts.copying`).
    """

    x: Tensor
    fed: Tensor | None
    last: Tensor
    wanted: Tensor
    tokens: Tensor
    sorts: Tensor

    @property
    def first(self) -> int:
        """The first position at which any text has a loss."""
        return int(self.wanted.any(0).nonzero()[0])


@dataclass(frozen=True, slots=True)
class Copies:
    """What could be copied at the n positions of a batch that count.

    columns: (n,) the token's column: its row of the trimmed head, or R, one more, where the head lacks it.
    sorts: (n,) how it was found. rows: (n, hidden) the target's head for it.
    """

    columns: Tensor
    sorts: Tensor
    rows: Tensor


class StudentLayer(nn.Module):
    """A layer of the Llama shape: x += attention(norm(x)); x += mlp(norm(x)). Weights fused as the decoder's."""

    def __init__(self, hidden: int, heads: int, kv_heads: int, size: int, inner: int, eps: float) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.size, self.eps = heads, kv_heads, size, eps
        self.attention_norm = nn.Parameter(torch.ones(hidden))
        self.qkv = nn.Parameter(torch.zeros((heads + 2 * kv_heads) * size, hidden))
        self.out = nn.Parameter(torch.zeros(hidden, heads * size))
        self.mlp_norm = nn.Parameter(torch.ones(hidden))
        self.gate_up = nn.Parameter(torch.zeros(2 * inner, hidden))
        self.down = nn.Parameter(torch.zeros(hidden, inner))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, first: int) -> Tensor:
        """x (B, S, hidden) -> (B, S - first, hidden): the positions from `first` on, which see all before them."""
        b, s, _ = x.shape
        seen = F.rms_norm(x, (x.shape[-1],), self.attention_norm, self.eps)
        h, g, d = self.heads, self.kv_heads, self.size
        # positions before `first` only serve as keys and values
        q = F.linear(seen[:, first:], self.qkv[: h * d]).view(b, s - first, h, d)
        kv = F.linear(seen, self.qkv[h * d :]).view(b, s, 2 * g, d)
        k, v = kv[:, :, :g], kv[:, :, g:]
        q = q * cos[first:s, None] + q.roll(d // 2, -1) * sin[first:s, None]
        k = k * cos[:s, None] + k.roll(d // 2, -1) * sin[:s, None]
        ahead = torch.ones(s - first, s, dtype=torch.bool, device=x.device).tril(first)
        a = F.scaled_dot_product_attention(
            q.transpose(1, 2),
            k.transpose(1, 2).repeat_interleave(h // g, 1),
            v.transpose(1, 2).repeat_interleave(h // g, 1),
            attn_mask=ahead,
        )
        x = x[:, first:] + F.linear(a.transpose(1, 2).reshape(b, s - first, h * d), self.out)
        gate, up = F.linear(F.rms_norm(x, (x.shape[-1],), self.mlp_norm, self.eps), self.gate_up).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, self.down)


class Student(nn.Module):
    """A draft in training. Its distributions have R + 1 columns: the last is the token to copy where the trimmed head
    lacks it.

    Args:
        decoder: the target; its head is shared and frozen. layers: how many of its last layers to start from.
        ids: the rows of the trimmed head. mlp_width: of the layers' MLPs, the target's where None (see `_start`).
    """

    ids: Tensor
    head: Tensor
    column_of: Tensor
    cos: Tensor
    sin: Tensor
    target_norm: Tensor

    def __init__(
        self,
        decoder: LeanDecoder,
        *,
        at: int,
        fed: bool,
        layers: int,
        ids: Sequence[int],
        mlp_width: int | None = None,
    ) -> None:
        super().__init__()
        shape = decoder.shape
        self.at, self.fed, self.depth, self.mlp_width, self.eps = at, fed, layers, mlp_width, shape.norm_eps
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
        width = shape.hidden * (2 if fed else 1)
        self.read = nn.Parameter(torch.zeros(shape.hidden, width))
        self.norm = nn.Parameter(decoder.last_norm.float().clone())
        self.copy = nn.ParameterDict(Gate.fresh(shape.hidden)._asdict())
        self.layers = nn.ModuleList()
        for i in range(decoder.layers - layers, decoder.layers):
            given = _start(decoder, i, mlp_width)
            layer = StudentLayer(
                shape.hidden, shape.heads, shape.kv_heads, shape.head_size, given["down"].shape[1], shape.norm_eps
            )
            layer.load_state_dict(given)
            self.layers.append(layer)

    def forward(self, x: Tensor, fed: Tensor | None, first: int) -> Tensor:
        """x, fed (B, S, hidden) -> g (B, S - first, hidden), the student's own last state."""
        y = F.linear(self.inputs(x, fed), self.read)
        for i, layer in enumerate(self.layers):
            y = layer(y, self.cos, self.sin, first if i == len(self.layers) - 1 else 0)
        return y

    def inputs(self, x: Tensor, fed: Tensor | None) -> Tensor:
        """What the in-projection reads: (.., hidden) or (.., 2 hidden), each part normalised to a mean square of 1."""
        x = F.rms_norm(x.float(), (x.shape[-1],), eps=self.eps)
        if fed is None:
            return x
        return torch.cat((x, F.rms_norm(fed.float(), (fed.shape[-1],), eps=self.eps)), -1)

    def copies(self, batch: Batch) -> Copies:
        """What a batch offers to copy."""
        tokens = batch.tokens[batch.wanted]
        return Copies(self.column_of[tokens], batch.sorts[batch.wanted], self._rows_of(tokens).to(self.head))

    def logits(self, g: Tensor, copies: Copies) -> Tensor:
        """g (n, hidden) -> (n, R + 1) log-probabilities."""
        own = F.linear(F.rms_norm(g, (g.shape[-1],), self.norm, self.eps), self.head)
        gate = Gate(*(self.copy[part] for part in Gate._fields))
        return mixed(F.pad(own, (0, 1), value=NEVER), g, copies.columns, copies.sorts, gate)[0]

    def target_logits(self, last: Tensor, copies: Copies) -> Tensor:
        """The target's own logits over the same columns, from its last states (n, hidden)."""
        x = F.rms_norm(last.float(), (last.shape[-1],), self.target_norm, self.eps)
        lacking = (copies.columns == len(self.head)) & (copies.sorts > 0)
        one_more = (x * copies.rows).sum(-1).where(lacking, NEVER)
        return torch.cat((F.linear(x, self.head), one_more[:, None]), -1)

    @torch.no_grad()
    def start_from(self, pairs: Sequence[tuple[Tensor, Tensor]]) -> None:
        """Fit the in-projection by ridge regression. pairs: (inputs (n, width), what the first layer should read)."""
        width = self.read.shape[1]
        xx, xy = torch.zeros(width, width), torch.zeros(width, self.read.shape[0])
        for x, y in pairs:
            xx += x.T @ x
            xy += x.T @ y.float()
        xx += RIDGE * xx.diagonal().mean() * torch.eye(width)
        self.read.copy_(torch.linalg.solve(xx, xy).T)


def _start(decoder: LeanDecoder, i: int, mlp_width: int | None) -> dict[str, Tensor]:
    """What a layer of a student starts from: the target's layer i in float32, its MLP made wider or narrower.

    A narrower one keeps the neurons whose weights are largest. A wider one takes those of the layers before as well,
    with nothing that they write: it starts as the target's own, and no two of its neurons start alike.
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
