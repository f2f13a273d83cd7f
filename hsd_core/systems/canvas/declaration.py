"""Diffusion targets on a language whose blanks are known: Spiffy (arXiv 2509.18085), APD (2506.00413) and COrAL
(2410.09675)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import Choice, Share
from hsd_core.grammar.keys import BONUS, GUESS, POLICY, RULE
from hsd_core.grammar.kind import (
    ANYWHERE,
    BLUE,
    GREEN,
    LAST,
    PURPLE,
    SKY,
    Kind,
    KindText,
    Look,
    NameForms,
    Placement,
    Planning,
    Site,
    Unplanned,
)
from hsd_core.grammar.spec import LevelSpec
from hsd_core.grammar.strategies import RuleKind

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset
    from hsd_core.systems.canvas.blanks import BlanksTokenizer

BLANKS = frozenset({"blanks"})
ORDER = Choice(
    name="order",
    place=2,
    usual="surest",
    choices=("surest", "entropy", "left"),
    words={
        "surest": "surest · the blank whose best word is likeliest",
        "entropy": "entropy · the blank with the least entropy",
        "left": "left · from left to right",
    },
    terms={"surest": "surest first", "entropy": "least entropy first", "left": "left to right"},
    noted="{}",
    tip="which blank is filled next; all three leave the joint law as it is",
)
BLUR = Share(
    name="blur",
    place=2,
    usual=0.0,
    noted="{} blurred",
    tip="the share of a word's mere frequency in what this model says; at 0 it knows the language exactly",
)
R = Share(
    name="r",
    place=33,
    usual=0.5,
    label="R",
    noted="R = {}",
    tip="the diffusion model's share in what is believed: at 1 every cell of a pass is kept, at 0 the reader decides",
)


def unplanned(spec: LevelSpec) -> Unplanned:
    return Unplanned("a model of blanks, whose passes cost nothing", "calibrate levels of a preset with weights")


def reference(spec: LevelSpec) -> LevelSpec:
    """Under the rule apd a reader is only the judge: what is approximated is the diffusion model read left to right."""
    return LevelSpec("infill", values={ORDER.name: "left"}) if spec.rule == "apd" else spec


def kind(name: str, order: int, look: Look, text: KindText, keys: tuple[Any, ...], build: Any, **placed: Any) -> Kind:
    def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
        return [kind.entry(text.title)]

    return Kind(
        name=name,
        order=order,
        look=look,
        text=text,
        keys=keys,
        placement=Placement(needs=BLANKS, **placed),
        planning=Planning(unplanned, plain=reference),
        offer=offer,
        build=build,
    )


def canvas(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.systems.canvas.canvas_level import InfillLevel

    return InfillLevel(site.tokenizer.language, spec[ORDER])


def reader(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.systems.canvas.canvas_level import BigramLevel

    return BigramLevel(site.tokenizer.language, spec[BLUR])


def states(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.systems.canvas.states import StatesLevel

    return StatesLevel(site.tokenizer.language, spec[GUESS])


def coral(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.systems.canvas.refine import CoralLevel

    return CoralLevel(site.tokenizer.language)


KINDS = (
    kind(
        "states",
        71,
        Look("Z", PURPLE, "wavy"),
        KindText(
            "states ahead",
            "Spiffy's drafts: the next states of the block, computed in the pass of the present one.",
            "Below a model of blanks. @guess= says how many are computed; those that come true are used.",
            NameForms(("states ahead",)),
        ),
        (GUESS.usually(8, "how many states of the block are computed together with the present one"),),
        states,
        block=4,
        verifies=False,
        cheap=True,
    ),
    kind(
        "coral",
        72,
        Look("U", GREEN, "thick"),
        KindText(
            "rewritten block",
            "COrAL's drafts: a block that is rewritten in parallel until it stands still.",
            "T is the block. What stands still is not the model's law; a rule of the level above decides.",
            NameForms(("[a ]rewritten block",)),
        ),
        (),
        coral,
        block=8,
        verifies=False,
        cheap=True,
    ),
    kind(
        "bigram",
        73,
        Look("R", SKY, "solid"),
        KindText(
            "left-to-right reader",
            "A model that fills the leftmost blank and sees nothing to the right of it.",
            "@blur= makes it a worse one.",
            NameForms(("[a ]left-to-right reader",)),
        ),
        (BLUR, RULE, BONUS),
        reader,
        stands=LAST,
    ),
    kind(
        "infill",
        74,
        Look("K", BLUE, "double"),
        KindText(
            "blanks in any order",
            "A diffusion model that knows every blank exactly; it fills one a step.",
            "@order= says which blank is next. Below another level it fills T cells from the left in one pass.",
            NameForms(("[a ]model of blanks",)),
        ),
        (ORDER, POLICY, RULE, BONUS),
        canvas,
        stands=ANYWHERE,
        block=4,
    ),
)

RULES = (
    RuleKind(
        name="apd",
        order=60,
        words="apd · keep the cells that a reader believes",
        in_names="keeps what it believes",
        function="hsd_core.systems.canvas.apd:apd",
        keys=(R,),
        lossless=False,
        strays=lambda r: "keeps cells that it believes, though its own first choice may be another",
        trees=False,
        one_hot=True,
        scores=True,
    ),
)


def tokenizer() -> BlanksTokenizer:
    from hsd_core.systems.canvas.blanks import BlanksTokenizer

    return BlanksTokenizer()


TOKENIZERS = {"blanks": tokenizer}
