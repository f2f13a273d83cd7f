"""A trained draft as a file: safetensors with int8 weights, a scale per row, and a description in the header.

    read            (hidden, hidden or 2 hidden)   in-projection of the normalised input
    layers.N.qkv, .out, .gate_up, .down            fused as the lean decoder's
    layers.N.attention_norm, .mlp_norm, norm       float32
    join            (hidden, F hidden)             its features from the states after F layers, if more than the last
    layers.0.cross_q, .cross_out, .cross_norm      attention to the target's last keys and values, with a window
    layers.N.conv, .step, .step_bias, .decay, .skip, .state_norm      with running states
    mix             (hidden, 2 hidden)             the gate between features and embedding, if it has one
    unknown         (A - 1, hidden) float32        inputs for tokens that are not known yet, with A tokens a pass
    heads.N.read, .gate_up, .down, .mlp_norm, .norm      instead of read, layers and norm: a head for each token
    ids             (R,) int32                     rows of the target's head that it uses, ascending
    copy.bias, .state, .scale                      float32, the gate of its copies (see `copying`); A of them

Embeddings and head are the target's and are not in the file. Listing files needs no torch.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol

from msgspec import Meta, Struct, structs

from hsd_core.typed import convert, encode, plain

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.drafts.head import OpenedDraft
    from hsd_core.models.lean.decoder import LeanDecoder

FORMAT = "hsd-draft/2"
PRODUCTS = ("qkv", "out", "gate_up", "down")
NORMS = ("attention_norm", "mlp_norm")
GATE = ("copy.bias", "copy.state", "copy.scale")
HEADER_MOST = 1_000_000  # bytes
MOST_AHEAD = 16  # tokens of one pass


class DraftError(ValueError):
    """A file that is not a draft, or one for another target; the message has the reason and the cure."""


class _Format(Struct):
    format: str


class _About(Struct):
    """The header's fields, in which every value is text."""

    preset: str
    at: int
    fed: bool
    layers: int
    rows: int
    hidden: int
    target: str
    fingerprint: str
    mlp_width: int | None = None
    joins: Annotated[str, Meta(pattern=r"^(\d{1,3}(\.\d{1,3})*)?$")] = ""
    ahead: Annotated[int, Meta(ge=1, le=MOST_AHEAD)] = 1
    gated: bool = False
    window: Annotated[int, Meta(ge=0)] = 0
    states: bool = False
    masked: bool = False
    measured: str = "{}"


class _Tensor(Struct):
    data_offsets: tuple[int, int]


@dataclass(frozen=True, slots=True)
class DraftInfo:
    """The header of a draft. at: the layer it reads, 0 for the embeddings. fed: it also reads the last states.

    layers: number of its layers. rows: of its trimmed head. target: the model's name. fingerprint: of the target's last
    norm. card: the text file with its name, if there is one. measured: figures of its validation. mlp_width: of its
    layers' MLPs, None: as the target's. joins: the layers whose states are its features, joined by dots; "": only the
    last. ahead: tokens that it drafts in one pass; without layers it has a head for each. gated: a gate weighs features
    against the embedding (Dovetail's DGF, arXiv 2412.18934). window: it attends to this many of its own positions, and
    to the keys and values of the target's last layer (LongSpec, arXiv 2502.17421); 0: to all of its own, and no others.
    states: its layers keep running states instead (STree, arXiv 2505.14969). masked: the tokens of one pass see each
    other, known or masked.
    """

    name: str
    preset: str
    at: int
    fed: bool
    layers: int
    rows: int
    hidden: int
    target: str
    fingerprint: str
    path: Path
    card: Path | None
    measured: dict[str, Any]
    mlp_width: int | None = None
    joins: str = ""
    ahead: int = 1
    gated: bool = False
    window: int = 0
    states: bool = False
    masked: bool = False

    @property
    def joined(self) -> tuple[int, ...]:
        """The layers whose states are its features; empty if that is only the last."""
        return tuple(map(int, self.joins.split("."))) if self.joins else ()

    @property
    def heads(self) -> bool:
        """Whether it has only heads over the target's last state."""
        return not self.layers

    @property
    def follows(self) -> bool:
        """Whether it reads results of full passes over the target's weights."""
        return self.fed or self.window > 0

    @property
    def title(self) -> str:
        if self.heads:
            return f"{self.ahead} heads over the target's last state"
        what = f"exit at layer {self.at}" if self.at else f"nano, {self.layers} layer{'s' if self.layers > 1 else ''}"
        wide = "" if self.mlp_width is None else f", MLP of width {self.mlp_width}"
        states = f"states after layers {self.joins.replace('.', ', ')}" if self.joins else "last state"
        ahead = ", by a gate" if self.gated else f", {self.ahead} tokens a pass" if self.ahead > 1 else ""
        ahead += ", each of which sees the others" if self.masked else ""
        if self.window:
            return f"{what}{wide}, window of {self.window}, with the keys and values of the target's last layer"
        if self.states:
            return f"{what}{wide}, with running states"
        return what + wide + (f", fed with the target's {states}" if self.fed else "") + ahead


def list_drafts(folder: Path) -> tuple[DraftInfo, ...]:
    """The drafts of a folder by name; other files are skipped."""
    found = []
    for path in sorted(folder.glob("*.safetensors")):
        try:
            found.append(read_info(path))
        except (DraftError, OSError):
            continue
    return tuple(found)


def read_info(path: Path) -> DraftInfo:
    """The header of a draft's file.

    Raises:
        DraftError: it is not a draft of this format. OSError: it cannot be read.
    """
    held = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        size = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 0 < size <= HEADER_MOST:
            raise DraftError(f"{path.name} is not a safetensors file; train the draft again")
        text = file.read(size)
    try:
        header = convert(plain(text), dict[str, Any])
        given = header.pop("__metadata__", None)
        if (found := convert(given, _Format).format) != FORMAT:
            raise DraftError(f"{path.name} has format {found!r}, this version reads {FORMAT}; train it again")
        about = convert(given, _About, strict=False)
        needed = 8 + size + max(part.data_offsets[1] for part in convert(header, dict[str, _Tensor]).values())
        if held != needed:
            raise DraftError(f"{path.name} is damaged: {held} bytes of {needed}; fetch or train it again")
        card = path.with_suffix(".md")
        given = {**structs.asdict(about), "measured": convert(plain(about.measured), dict[str, Any])}
        return DraftInfo(name=path.stem, path=path, card=card if card.is_file() else None, **given)
    except DraftError:
        raise
    except ValueError as error:
        raise DraftError(f"{path.name} is not a trained draft ({error}); train it again") from error


class Normed(Protocol):
    """A decoder that gives its last norm: `CompiledDecoder`, `LeanDecoder`."""

    @property
    def last_norm(self) -> Tensor: ...


def fingerprint(decoder: Normed) -> str:
    """A hash of a target's last norm, independent of the decoder's dtype."""
    import torch

    held = decoder.last_norm.detach().cpu().bfloat16().view(torch.int16).tolist()
    return hashlib.sha256(struct.pack(f"<{len(held)}h", *held)).hexdigest()[:16]


def write_draft(path: Path, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
    """Write a draft atomically. `about`: the fields of `DraftInfo` that are not derived from the file."""
    from safetensors.torch import save_file

    header = {key: encode(value).decode() if isinstance(value, dict) else str(value) for key, value in about.items()}
    partial = path.with_suffix(".partial")
    save_file({name: t.contiguous() for name, t in tensors.items()}, partial, {"format": FORMAT, **header})
    partial.chmod(0o644)
    os.replace(partial, path)


def named(at: str, products: Sequence[str], norms: Sequence[str]) -> set[str]:
    """The tensors of these products, each with its scales, and of these norms."""
    return {f"{at}{name}" for name in (*products, *norms)} | {f"{at}{name}.scale" for name in products}


class DraftForm(NamedTuple):
    """A form of drafts other than layers over a layer's states, which a system declares in `DRAFT_FORMS`.

    Attributes:
        takes: whether a header is of this form. sound: whether its other fields fit the form.
        tensors: the names of the tensors in the file, without `ids` and the gate's.
        open: opens the draft over its decoder.
    """

    takes: Callable[[DraftInfo], bool]
    tensors: Callable[[DraftInfo], set[str]]
    open: Callable[[DraftInfo, dict[str, Tensor], LeanDecoder | CompiledDecoder], OpenedDraft]
    sound: Callable[[DraftInfo], bool] = lambda info: True


def _tensors(info: DraftInfo) -> set[str]:
    read = named("", ("read", *("join",) * bool(info.joined), *("mix",) * info.gated), ("norm",))
    unknown = {"unknown"} if info.ahead > 1 else set()
    return read.union(unknown, *(named(f"layers.{i}.", PRODUCTS, NORMS) for i in range(info.layers)))


def _open(info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder) -> OpenedDraft:
    from hsd_core.models.lean.decoder import LeanDecoder

    if isinstance(decoder, LeanDecoder):
        from hsd_core.models.drafts.head import DraftHead

        return DraftHead(info, tensors, decoder)
    from hsd_core.models.drafts.compiled_head import CompiledDraft

    return CompiledDraft(info, tensors, decoder)


LAYERS = DraftForm(lambda info: info.layers > 0 and not (info.window or info.states or info.masked), _tensors, _open)


def read_draft(path: Path, decoder: LeanDecoder | CompiledDecoder, forms: Sequence[DraftForm] = ()) -> OpenedDraft:
    """Open a draft over the decoder that it was trained for, in the same library.

    Args:
        forms: of drafts other than layers over a layer's states; the first that takes it opens it.
    Raises:
        DraftError: it was trained for another target, or is not a draft.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from hsd_core.models.drafts.copying import Gate

    info = read_info(path)
    if info.hidden != decoder.shape.hidden or info.fingerprint != fingerprint(decoder):
        raise DraftError(f"draft {info.name} was trained for {info.target}, not for this target; train one of its own")
    if not 0 <= info.at < decoder.layers:
        raise DraftError(f"draft {info.name} reads layer {info.at} of a model with {decoder.layers}; train it again")
    if info.joined and not (info.fed and 1 <= min(info.joined) <= max(info.joined) <= decoder.layers):
        raise DraftError(f"draft {info.name} is fed by layers {info.joins} of {decoder.layers}; train it again")
    form = next((form for form in (*forms, LAYERS) if form.takes(info)), None)
    if form is None:
        raise DraftError(f"draft {info.name} is {info.title}, and no system here opens one; leave it out")
    if not form.sound(info):
        raise DraftError(f"draft {info.name} is {info.title}, and has more that none has; train it again")
    try:
        tensors = load_file(path)
    except SafetensorError as error:
        raise DraftError(f"draft {info.name} is damaged ({error}); fetch or train it again") from error
    if lacking := sorted(({"ids", *GATE} | form.tensors(info)) - tensors.keys()):
        raise DraftError(f"draft {info.name} lacks {lacking[0]!r}; train it again")
    sizes = [tuple(tensors[name].shape) for name in GATE]
    several = (info.ahead,) if info.ahead > 1 else ()
    if sizes != [(*several, *part.shape) for part in Gate.fresh(info.hidden)]:  # or it would fail within a run
        raise DraftError(f"draft {info.name} has a gate of other sizes than its target's; train it again")
    if tensors["ids"].ndim != 1 or int(tensors["ids"].max()) >= decoder.vocab_size:
        raise DraftError(f"draft {info.name} keeps tokens that the target does not have; train it again")
    try:
        return form.open(info, tensors, decoder)
    except (RuntimeError, IndexError) as error:
        raise DraftError(f"draft {info.name} has weights of other sizes than its target; train it again") from error
