"""What a kind of level declares, once: how it is written, named, drawn, offered and built."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from hsd_core.grammar.key import Key, V, Value

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.models.decoder_protocol import Decoder, Layered
    from hsd_core.models.drafts.draft_file import DraftInfo
    from hsd_core.models.weights import Source

T = TypeVar("T")
BELOW, LAST, ANYWHERE = "below", "last", "anywhere"  # where in a stack a kind may stand
NONE: Mapping[str, str] = MappingProxyType({})


class NameForms(NamedTuple):
    """What a level of a kind is called: "8-bit copy", and within the name of a stack "an 8-bit copy".

    Attributes:
        forms: the first one is taken whose keys, written {key}, the level was all given; none: the kind's title. What
            stands in brackets is left out where the level is called by itself: "[an ]8-bit copy".
        around: by a key that the level was given, what then stands around that, written {level}.
        terms: words for values of keys, where they are this kind's own.
    """

    forms: tuple[str, ...] = ()
    around: Mapping[str, str] = NONE
    terms: Mapping[str, str] = NONE


# Between levels; for a level that is called as the one below it; behind one, what tells it from its like.
JOINTS: Mapping[str, str] = MappingProxyType(
    {
        "then": ", then ",
        "alone": "{level} alone",
        "again": "one more",
        "aside": "{level} ({notes})",
        "tokens": "{n} tokens",
        "token": "1 token",
    }
)


class Colour(NamedTuple):
    """A hue on the light and the dark page, and its number among a terminal's 256 colours."""

    light: str
    dark: str
    ink: int


# Okabe-Ito. A kind takes one of these; kinds that are alike may share it.
ORANGE = Colour("#E69F00", "#F2B84B", 214)
SKY = Colour("#56B4E9", "#7CC8F2", 74)
GREEN = Colour("#009E73", "#35C79C", 36)
PURPLE = Colour("#CC79A7", "#E3A3C6", 175)
YELLOW = Colour("#E3D524", "#F0E442", 227)
BLUE = Colour("#0072B2", "#5AB0E6", 32)
REJECT = Colour("#D55E00", "#FF8A3D", 166)  # of a token that a verifier threw out; no kind's
# Levels of one letter, in order: how much of the hue, mixed with what.
SHADES = ((1.0, "ink"), (0.62, "ink"), (0.6, "paper"), (0.42, "ink"))


class Reads(NamedTuple):
    """Which model's layers a level reads, and how deep.

    weights: the dtype of a copy of the target; "" for the target itself or the dtype that the level names.
    depth: None for all layers, 0 for the token embeddings, "at" for as many as the key says.
    part: whether it reads a part of that model's cache alone, so that a pass costs the same however long the text is.
    """

    weights: str = ""
    depth: int | str | None = None
    part: bool = False


class WrittenAs(NamedTuple):
    """A kind that has no name in the grammar: it is another kind with one key set, alone below the target it reads.

    words: of that value in the composer. wrong: where it stands otherwise. without: keys that it leaves out, and why.
    Both go behind the level's name. takes: the one value that it takes of such a key.
    """

    name: str
    key: str
    value: str
    words: str
    wrong: str
    without: Mapping[str, str]
    takes: Mapping[str, str] = MappingProxyType({})


class Origin(NamedTuple):
    """Where a kind's tokens may come from, by the letter in the trace, and its share of the hue, mixed with what."""

    letter: str
    title: str
    share: float = 1.0
    towards: str = "ink"


class Unplanned(NamedTuple):
    """Why no profile holds such a level and no plan can: what it is, and what to calibrate instead."""

    what: str
    instead: str


class Site(Protocol):
    """Where a level is built: a preset's weights and tokenizer, the decoders over them, and what was opened beside."""

    preset: Preset
    folder: Path  # of the target's weights
    device: str
    dtype: str
    tokenizer: Any
    ends: frozenset[int]  # ids that end a text

    def fetched(self, source: str | None) -> tuple[Source, Path] | None:
        """The weights that a level names, else the preset's smaller model; None where there is none."""
        ...

    def file(self, name: str) -> Path:
        """A file that a level names: of the operator's folder, where there is one, else a path."""
        ...

    def of_target(self, name: str | None) -> Source:
        """The target's weights, for a level that may name them; others are refused."""
        ...

    def decoder(self, folder: Path, dtype: str, device: str, name: str, *, vocab: int | None = None) -> Decoder:
        """The decoder of these weights; over the target's vocabulary, or over so many ids of its own."""
        ...

    def layered(self, spec: LevelSpec) -> Layered:
        """The target's decoder, of the dtype and on the device of a level that reads its layers."""
        ...

    def opened(self, over: Decoder, key: Hashable, opening: Callable[[], T]) -> T:
        """What a level reads beside a decoder, such as a trained draft: opened once, kept as long as the decoder is.

        Args:
            key: of what is opened, among all that is opened over this decoder; a file's path, for example.
        """
        ...


class Look(NamedTuple):
    """How a level of a kind and its tokens are drawn.

    Attributes:
        letter: on tokens and in lanes. colour: of its tokens. underline: a style of css/text.css.
        stand_in: of which levels it is the look where their kind is not known.
    """

    letter: str
    colour: Colour
    underline: str
    stand_in: Literal["", "level", "lookup", "target"] = ""


class KindText(NamedTuple):
    """What is said of a kind.

    Attributes:
        title: in the legend and in lanes. about: a sentence on what it is. help: how it is used.
        in_names: what a level of it is called within the name of a stack.
    """

    title: str
    about: str
    help: str
    in_names: NameForms = NameForms()


class Placement(NamedTuple):
    """Where in a stack a level of a kind may stand, and with what block length.

    Attributes:
        stands: `BELOW` another level, `LAST`, or `ANYWHERE`.
        block: T where a stack gives none.
        verifies: whether it has a distribution.
        cheap: a new one goes below more expensive levels, the others right below the target.
        needs: what a preset must have (`Preset.has`) to list it at all; a kind that needs nothing stands in each.
        first: what has to be made once on a machine before a level of a preset runs there, as a sentence; "" if
            nothing has, or it is made. Looks at files alone.
    """

    stands: str = BELOW
    block: int = 4
    verifies: bool = True
    cheap: bool = False
    needs: frozenset[str] = frozenset()
    first: Callable[[LevelSpec, Preset], str] = lambda spec, preset: ""


class Shares(NamedTuple):
    """What a level of a kind has in common with the target and with other levels.

    Attributes:
        reads: the model whose layers it shares; None for a level with a model of its own, or with none.
        of_target: whether a level is built for one target.
        follows: keys that stand at the target, and count for the level below it too.
        own_tokenizer: whether its own model may have another tokenizer than the target.
        own: the weights of its own model where it names none by `@id=`, None where a preset has none such; unset for a
            kind without a model of its own.
        draft: with which values a level reads a trained draft, None where it reads none such.
    """

    reads: Reads | None = None
    of_target: Callable[[LevelSpec], bool] = lambda spec: False
    follows: tuple[Key[Any], ...] = ()
    own: Callable[[Preset], Source | None] | None = None
    own_tokenizer: bool = False
    draft: Callable[[DraftInfo], Mapping[str, Value] | None] = lambda info: None


class Planning(NamedTuple):
    """Whether profiles and plans hold a level of a kind.

    Attributes:
        unplanned: why they cannot; None where they can.
        named: it is measured where it is named, and not with all that a preset offers: it seldom pays, or in long
            texts alone.
    """

    unplanned: Callable[[LevelSpec], Unplanned | None] = lambda spec: None
    named: bool = False


class Lookup(NamedTuple):
    """What a kind looks up.

    Attributes:
        origins: where its tokens come from.
        beside: the level that looks up so many sequences, for another one's draft to merge (`FUSE`); None for a kind
            that looks nothing up.
    """

    origins: tuple[Origin, ...] = ()
    beside: Callable[[int], LevelSpec] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of level.

    Attributes:
        name: in stacks and traces. order: in lists; the cheaper ones first.
        keys: that it heeds somewhere in a stack, each with what a level of the kind has without it. One that means
            nothing where the level stands now (a rule at the bottom) is kept: levels are moved, and come back with it.
            Whoever heeds a policy or a rule heeds the keys that policies and rules have.
        written: how it is written where it has no name in the grammar.
        offer: the catalogue's entries for a preset. build: the level, a `core.level.Level`.
    """

    name: str
    order: int
    look: Look
    text: KindText
    keys: tuple[Key[Any], ...]
    offer: Callable[[Kind, Preset], Sequence[dict[str, Any]]]
    build: Callable[[LevelSpec, Site], Any]
    placement: Placement = field(default=Placement())
    shares: Shares = field(default=Shares())
    planning: Planning = field(default=Planning())
    lookup: Lookup = field(default=Lookup())
    written: WrittenAs | None = None

    def entry(
        self, label: str, *, reason: str = "", params: dict[str, Any] | None = None, **more: Any
    ) -> dict[str, Any]:
        """A level as the catalogue lists it: usable, or with the reason why not."""
        return {
            "name": self.name,
            "kind": self.name,
            "letter": self.look.letter,
            "label": label,
            "can_draft": True,
            "can_verify": self.placement.verifies,
            "default_block": None if self.placement.stands == LAST else self.placement.block,
            "usable": not reason,
            "reason": reason,
            "params": params or {},
            **more,
        }

    def suits(self, preset: Preset) -> bool:
        """Whether a preset has what it needs to list it at all."""
        return self.placement.needs <= preset.has

    def as_dict(self, shared: Mapping[str, Key[Any]]) -> dict[str, Any]:
        """For the page, in plain JSON types. `shared`: the keys of all kinds, by name."""
        look, text, place, forms = self.look, self.text, self.placement, self.text.in_names
        return {
            "name": self.name,
            "order": self.order,
            "title": text.title,
            "about": text.about,
            "help": text.help,
            "letter": look.letter,
            "colour": look.colour._asdict(),
            "underline": look.underline,
            "stand_in": look.stand_in,
            "keys": [key.name for key in self.keys],
            "usual": {key.name: key.write(value) for key in self.keys if (value := _own(key, shared)) is not None},
            "block": place.block,
            "verifies": place.verifies,
            "stands": place.stands,
            "cheap": place.cheap,
            "reads": self.shares.reads and self.shares.reads._asdict(),
            "origins": [origin._asdict() for origin in self.lookup.origins],
            "written": self.written and self.written._asdict(),
            "said": {
                "forms": (*forms.forms, text.title),
                "around": dict(forms.around),
                "terms": dict(forms.terms),
            },
        }


def _own(key: Key[V], shared: Mapping[str, Key[Any]]) -> V | None:
    """What a kind has without being given any, where that is not so for all that have the key."""
    return None if key.usual == shared[key.name].usual else key.usual
