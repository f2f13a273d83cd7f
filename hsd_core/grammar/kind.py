"""The declaration of a kind of level: how it is written, named, drawn, listed and built."""

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
    """The name of a level of a kind: "8-bit copy", and in the name of a stack "an 8-bit copy".

    Attributes:
        forms: templates with {key} for values of keys. The first one whose keys the level all has is used, else the
            kind's title. Text in brackets appears in the name of a stack only: "[an ]8-bit copy".
        around: texts around the name if the level has a key, by key, with {level} for the name.
        terms: texts for values of keys that differ from those of the keys themselves.
    """

    forms: tuple[str, ...] = ()
    around: Mapping[str, str] = NONE
    terms: Mapping[str, str] = NONE


# Texts between levels, for a level with the same name as the one below it, and for notes after a name.
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
    """A hue for the light and the dark page, and its number among a terminal's 256 colours."""

    light: str
    dark: str
    ink: int


# Okabe-Ito. A kind has one of these; similar kinds may share one.
ORANGE = Colour("#E69F00", "#F2B84B", 214)
SKY = Colour("#56B4E9", "#7CC8F2", 74)
GREEN = Colour("#009E73", "#35C79C", 36)
PURPLE = Colour("#CC79A7", "#E3A3C6", 175)
YELLOW = Colour("#E3D524", "#F0E442", 227)
BLUE = Colour("#0072B2", "#5AB0E6", 32)
REJECT = Colour("#D55E00", "#FF8A3D", 166)  # of rejected tokens; no kind has it
# For several levels of one letter, in order: the share of the hue, and what it is mixed with.
SHADES = ((1.0, "ink"), (0.62, "ink"), (0.6, "paper"), (0.42, "ink"))


class Reads(NamedTuple):
    """The model whose layers a level runs, and how many of them.

    weights: the dtype of a copy of the target; "" for the target itself or the dtype that the level names.
    depth: None for all layers, 0 for the token embeddings only, "at" for the number in that key.
    part: whether it reads only a part of that model's cache, so that the cost of a pass does not grow with the text.
    """

    weights: str = ""
    depth: int | str | None = None
    part: bool = False


class WrittenAs(NamedTuple):
    """A kind without a name in the grammar: another kind with one key set, as the only level below the target.

    words: the composer's text for that value. wrong: the error if the level stands elsewhere. without: keys that it
    does not take, with the error for each; both errors follow the level's name. takes: the one value that it accepts
    for such a key.
    """

    name: str
    key: str
    value: str
    words: str
    wrong: str
    without: Mapping[str, str]
    takes: Mapping[str, str] = MappingProxyType({})


class Origin(NamedTuple):
    """A source of a kind's tokens: its letter in the trace, and the share of the hue, with what it is mixed."""

    letter: str
    title: str
    share: float = 1.0
    towards: str = "ink"


class Unplanned(NamedTuple):
    """Why profiles and plans leave a level out: what the level is, and what to calibrate instead."""

    what: str
    instead: str


class Site(Protocol):
    """What a level is built from: a preset's weights and tokenizer, their decoders, and other opened files."""

    preset: Preset
    folder: Path  # of the target's weights
    device: str
    dtype: str
    tokenizer: Any
    ends: frozenset[int]  # ids that end a text

    def fetched(self, source: str | None, *, tokenizer: bool = True) -> tuple[Source, Path] | None:
        """The weights that a level names, else the preset's smaller model; None if there is none. tokenizer: whether
        they need one."""
        ...

    def file(self, name: str) -> Path:
        """A file that a level names: in the operator's folder if there is one, else a path."""
        ...

    def of_target(self, name: str | None) -> Source:
        """The target's weights, for a level that may name them; other names are refused."""
        ...

    def decoder(self, folder: Path, dtype: str, device: str, name: str, *, vocab: int | None = None) -> Decoder:
        """The decoder of these weights, over the target's vocabulary or over `vocab` ids of its own."""
        ...

    def layered(self, spec: LevelSpec) -> Layered:
        """The target's decoder with the dtype and the device of a level that runs its layers."""
        ...

    def opened(self, over: Decoder, key: Hashable, opening: Callable[[], T]) -> T:
        """Something that belongs to a decoder, such as a trained draft, opened once and kept as long as the decoder.

        Args:
            key: identifies it among everything opened for this decoder; for example a file's path.
        """
        ...


class Look(NamedTuple):
    """How levels of a kind and their tokens are drawn.

    Attributes:
        letter: on tokens and in lanes. colour: of its tokens. underline: a style of css/text.css.
        stand_in: which levels of unknown kinds get this look.
    """

    letter: str
    colour: Colour
    underline: str
    stand_in: Literal["", "level", "lookup", "target"] = ""


class KindText(NamedTuple):
    """The texts of a kind.

    Attributes:
        title: for the legend and the lanes. about: one sentence, what it is. help: how to use it.
        in_names: names of its levels.
    """

    title: str
    about: str
    help: str
    in_names: NameForms = NameForms()


class Placement(NamedTuple):
    """Where in a stack levels of a kind may stand, and their default block length.

    Attributes:
        stands: `BELOW` another level, `LAST`, or `ANYWHERE`.
        block: the default T.
        verifies: whether it can verify, that is, has a distribution.
        cheap: whether the composer adds it at the bottom; others are added right below the target.
        needs: what a preset must have (`Preset.has`) to list the kind.
        first: what has to be made once on a machine before the level runs, as a sentence; "" if nothing is missing.
            Looks at files only.
    """

    stands: str = BELOW
    block: int = 4
    verifies: bool = True
    cheap: bool = False
    needs: frozenset[str] = frozenset()
    first: Callable[[LevelSpec, Preset], str] = lambda spec, preset: ""


class OwnModel(NamedTuple):
    """The model of a kind that has one of its own.

    Attributes:
        default: the weights for levels without `@id=`; it returns None if the preset has none.
        tokenizer: "target's", "any", or "none": a drafter that was trained for one target.
        takes: whether a config.json is of such a model.
    """

    default: Callable[[Preset], Source | None] = lambda preset: None
    tokenizer: Literal["target's", "any", "none"] = "target's"
    takes: Callable[[Mapping[str, Any]], bool] = lambda config: True


class Shares(NamedTuple):
    """What levels of a kind share with the target and with other levels.

    Attributes:
        reads: the model whose layers it shares; None for a level with its own model or without one.
        whole: whether the target that it reads may run whole, through transformers.
        of_target: whether a level works for one target only.
        follows: keys of the target that the level below it uses too.
        own: its own model; None for kinds without one.
        draft: the key values at which a level uses a trained draft; it returns None if the kind cannot use that draft.
    """

    reads: Reads | None = None
    whole: bool = False
    of_target: Callable[[LevelSpec], bool] = lambda spec: False
    follows: tuple[Key[Any], ...] = ()
    own: OwnModel | None = None
    draft: Callable[[DraftInfo], Mapping[str, Value] | None] = lambda info: None


class Planning(NamedTuple):
    """Whether profiles and plans contain levels of a kind, and what a target of it is measured against.

    Attributes:
        unplanned: why they cannot; it returns None if they can.
        named: whether `calibrate` measures the level only if it is named, because it seldom pays.
        strays: what it does as a target instead of committing its model's own choices, in words; "" if it commits them.
        plain: the target that it approximates: plain decoding beside it, and the price of its text, are that one's.
    """

    unplanned: Callable[[LevelSpec], Unplanned | None] = lambda spec: None
    named: bool = False
    strays: Callable[[LevelSpec], str] = lambda spec: ""
    plain: Callable[[LevelSpec], LevelSpec] = lambda spec: spec


class Lookup(NamedTuple):
    """The lookups of a kind.

    Attributes:
        origins: the sources of its tokens.
        beside: makes the level that looks up a number of sequences to be merged into another level's draft (`FUSE`);
            None for kinds without lookups.
    """

    origins: tuple[Origin, ...] = ()
    beside: Callable[[int], LevelSpec] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of level.

    Attributes:
        name: in stacks and traces. order: in lists; the cheaper ones first.
        keys: the keys that a level of the kind takes anywhere in a stack, with their defaults. A key without effect
            at the level's present position (a rule at the bottom) is kept, because levels are moved. A kind with a
            policy or a rule also takes the keys of policies or rules.
        written: how it is written if it has no name in the grammar.
        offer: the catalogue's entries for a preset. build: makes the level, a `core.level.Level`.
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
        """A level in the catalogue: usable, or with the reason why not."""
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
        """Whether a preset has everything the kind needs."""
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
    """A kind's default for a key if it differs from the default of other kinds, else None."""
    return None if key.usual == shared[key.name].usual else key.usual
