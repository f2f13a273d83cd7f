"""A drafter's checkpoint as others publish it: a folder with config.json and safetensors, opened over a target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hsd_core.models import machine
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.drafts.draft_file import DraftError
from hsd_core.models.gpu.precision import computes_in
from hsd_core.models.lean.layers import Layer
from hsd_core.models.lean.linear import Head, Linear, Packed, Plain, aligned
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.loading import least_bytes, opened_weights, read_config
from hsd_core.models.machine import refuse
from hsd_core.models.weights.source import UNPICKLED

if TYPE_CHECKING:
    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.hf import TransformersDecoder
    from hsd_core.models.lean.decoder import LeanDecoder

    Over = LeanDecoder | CompiledDecoder | TransformersDecoder  # a target's decoder that gives its states


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A drafter's weights, while its files are open.

    name: of its folder or on the Hub. config: its config.json. names: of its weights. over: the target's decoder.
    of: the target that it says it was trained for, "" if it says none.
    """

    name: str
    config: Mapping[str, Any]
    names: frozenset[str]
    over: Over
    of: str
    _read: Callable[[str], Tensor]

    @property
    def float(self) -> torch.dtype:
        """The format that its layers compute in: the target's."""
        return computes_in(self.over.dtype, self.over.device)

    def shape(self, layers: Mapping[str, Any]) -> LeanShape:
        """The sizes of its layers, over the target's positions.

        Args:
            layers: the part of its config that describes them.
        Raises:
            DraftError: the layers have another form, or the vocabulary is not the target's.
        """
        try:
            shape = LeanShape.from_config({"model_type": "llama", **layers})
        except DecoderError as error:
            raise DraftError(f"drafter {self.name}: {error}") from error
        if shape.vocab_size != self.over.shape.vocab_size:
            raise self.other_target("a vocabulary", shape.vocab_size, self.over.shape.vocab_size)
        return replace(shape, max_positions=self.over.max_positions)

    def other_target(self, what: str, its: int, here: int) -> DraftError:
        """The error for a drafter of another target, by a size that differs."""
        whose = self.of or "another model"
        return DraftError(
            f"drafter {self.name} is for {whose}: {what} of {its}, and this target has {here}; name one that was "
            "trained for this target"
        )

    def weight(self, name: str, *size: int, kept: torch.dtype | None = None) -> Tensor:
        """A weight of this size on the target's device.

        Raises:
            DraftError: it is missing, or has another size.
        """
        if name not in self.names:
            raise DraftError(f"drafter {self.name} lacks the weight {name!r}; fetch it again, or name another drafter")
        found = self._read(name)
        if size and tuple(found.shape) != size:
            sizes = f"has sizes {tuple(found.shape)}, and its config says {size}"
            raise DraftError(f"drafter {self.name}: {name!r} {sizes}; fetch it again, or name another drafter")
        return aligned(found.to(device=self.over.device, dtype=kept or self.float))

    def embedding(self, vocab: int, width: int) -> Tensor | None:
        """Its own embeddings, in the format of the file; None if it has none."""
        name = "embed_tokens.weight"
        return self.weight(name, vocab, width, kept=self._read(name).dtype) if name in self.names else None

    def norm(self, name: str, width: int) -> Tensor:
        return self.weight(f"{name}.weight", width)

    def product(self, parts: Sequence[str], outputs: Sequence[int], inputs: int) -> Linear:
        """Several products of one input, as one."""
        weight = torch.cat([self.weight(f"{p}.weight", n, inputs) for p, n in zip(parts, outputs, strict=True)])
        bias = f"{parts[0]}.bias" in self.names
        added = torch.cat([self.weight(f"{p}.bias", n) for p, n in zip(parts, outputs, strict=True)]) if bias else None
        on_cpu = torch.device(self.over.device).type == "cpu"
        packs = on_cpu and self.float is torch.float32 and Packed.available()
        return (Packed if packs else Plain)(weight, added)

    def layer(self, at: str, shape: LeanShape, *, norm: str = "input_layernorm", inputs: int = 0) -> Layer:
        """A layer whose attention reads `inputs` numbers (0: the width) after its `norm`."""
        attention, mlp, width, size = f"{at}.self_attn.", f"{at}.mlp.", shape.hidden, shape.head_size
        inner, read = int(self._read(f"{mlp}down_proj.weight").shape[1]), inputs or width
        head_norms = f"{attention}q_norm.weight" in self.names
        parts, grouped = [f"{attention}{part}_proj" for part in "qkv"], shape.kv_heads * size
        return Layer(
            attention_norm=self.norm(f"{at}.{norm}", width),
            qkv=self.product(parts, (shape.heads * size, grouped, grouped), read),
            q_norm=self.norm(f"{attention}q_norm", size) if head_norms else None,
            k_norm=self.norm(f"{attention}k_norm", size) if head_norms else None,
            out=self.product([f"{attention}o_proj"], [width], shape.heads * size),
            mlp_norm=self.norm(f"{at}.post_attention_layernorm", width),
            gate_up=self.product([f"{mlp}gate_proj", f"{mlp}up_proj"], (inner, inner), width),
            down=self.product([f"{mlp}down_proj"], [width], inner),
        )

    def known_ids(self, vocab: int) -> tuple[Tensor, Tensor]:
        """(R,) the target's ids that its head's rows stand for, and (rows of its head,) bool: those that this target
        can say. `d2t` holds, by row, what is added for the target's id.

        Raises:
            DraftError: they are no ids of the target.
        """
        added = self.weight("d2t", kept=torch.long) if "d2t" in self.names else torch.zeros(vocab, dtype=torch.long)
        ids = (torch.arange(len(added), device=added.device) + added).to(self.over.device)
        if not (len({*ids.tolist()}) == len(ids) > 0 and ids.min() >= 0 and ids.max() < vocab):
            raise DraftError(f"drafter {self.name}: d2t names ids that its target does not have; fetch it again")
        known = self.weight("t2d", vocab, kept=torch.bool) if "t2d" in self.names else torch.zeros(1)
        if known.any() and not torch.equal(known.nonzero()[:, 0], ids.sort()[0]):
            raise DraftError(f"drafter {self.name}: d2t and t2d name other ids; fetch it again")
        said = ids < self.over.vocab_size
        return ids[said], said

    def head(self, rows: Tensor) -> Head:
        """A head of these rows, (R, hidden)."""
        return Head(rows, self.float)

    def target_head(self) -> tuple[Head, int]:
        """The target's head, and the bytes of it that are not the target's own: of a copy, where the target's decoder
        has its head and its last norm in one product."""
        if (shared := getattr(self.over, "plain_head", None)) is not None:
            return shared, 0
        copied = self.head(self.over.head_rows(torch.arange(self.over.vocab_size)))
        return copied, copied.nbytes


@contextmanager
def opened_checkpoint(folder: Path, name: str, over: Over) -> Iterator[Checkpoint]:
    """A drafter's checkpoint, open for reading.

    Raises:
        DraftError: it cannot be read, or its weights are pickles. TooLarge: they need more memory than is free.
    """
    try:
        config = read_config(folder)
        if not any(folder.glob("*.safetensors")) and any(folder.glob("*.bin")):
            raise DraftError(f"drafter {name} has pickles, which are not opened; {UNPICKLED}")
        kept = str(computes_in(over.dtype, over.device)).removeprefix("torch.")
        refuse(least_bytes(folder, kept), machine.free_bytes(over.device), f"drafter {name}", "leave it out")
        with opened_weights(folder) as (read, names):
            bare = {known.removeprefix("model."): known for known in names}
            yield Checkpoint(name, config, frozenset(bare), over, trained_for(config), lambda one: read(bare[one]))
    except DecoderError as error:
        raise DraftError(f"drafter {name}: {error}") from error


def trained_for(config: Mapping[str, Any]) -> str:
    """The target that a drafter's config names, "" if it names none."""
    verifier = (config.get("speculators_config") or {}).get("verifier") or {}
    return str(verifier.get("name_or_path") or config.get("base_model_name_or_path") or "")
