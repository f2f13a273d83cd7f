"""`@judge=head` at the target, and the rule `judge`, which keeps what the head calls good."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import TOPMOST, VERIFIER, Choice, Share, StackError
from hsd_core.grammar.kind import Site
from hsd_core.grammar.registry import Extension
from hsd_core.grammar.strategies import RuleKind
from hsd_core.stacks.targets import preset_option

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.levels.model_level import ModelLevel
    from hsd_core.systems.judge.judged_level import JudgedLevel

JUDGE = Choice(
    name="judge",
    place=66,
    counts=TOPMOST,
    choices=("head",),
    words={"": "no judge", "head": "head · says whether a drafted token is wrong or only different"},
    terms={"head": "a judge"},
    noted="{}",
    around="{level} with a judge",
    tip="a small head on the target's last states, trained with python -m hsd_core judge; the rule judge asks it",
)


def missing(preset: Preset) -> str:
    """A sentence that the head must be trained, and how; "" if it is there."""
    from hsd_core.systems.judge.head_file import head_path

    if head_path(preset.key):
        return ""
    return (
        "A judge of this target is trained once by whoever runs this server: "
        f"python -m hsd_core judge {preset_option(preset.name)}"
    )


def build(spec: LevelSpec, site: Site, plain: Callable[[LevelSpec, Site], ModelLevel]) -> JudgedLevel:
    """The target with its judge."""
    from hsd_core.levels.trunk import Layered
    from hsd_core.models.drafts.draft_file import fingerprint
    from hsd_core.systems.judge.head_file import HeadError, head_path, read_head
    from hsd_core.systems.judge.judged_level import JudgedLevel

    level = plain(spec, site)
    if not isinstance(level.decoder, Layered):
        raise StackError(f"{spec.name}: it runs whole, through transformers, and gives no states; leave @judge= out")
    if (path := head_path(site.preset.key)) is None:
        raise StackError(f"{spec.name}: {missing(site.preset)}, or leave @judge= out")
    try:
        head = read_head(path)
    except HeadError as error:
        raise StackError(f"{spec.name}: {error}") from error
    decoder: Any = level.decoder
    if head.fingerprint != fingerprint(decoder):
        raise StackError(f"{spec.name}: {path.name} was trained for another target; run python -m hsd_core judge")
    return JudgedLevel(level, head)


EXTENDS = (
    Extension(
        of="target",
        keys=(JUDGE,),
        build=build,
        help="@judge=head adds a head that judges drafted tokens, for @rule=judge (Judge decoding).",
        first=missing,
        of_drafts=True,
    ),
)
RULES = (
    RuleKind(
        name="judge",
        order=61,
        words="judge · also keep what a trained head calls good (not exact)",
        in_names="asks a judge",
        function=f"{__package__}.judged_level:judged",
        keys=(
            Share(
                name="delta",
                place=45,
                counts=VERIFIER,
                usual=0.5,
                label="δ",
                noted="δ = {}",
                tip="a rejected token is kept if the judge finds it good with more than this probability; 1 is exact. "
                "It needs @judge=head at the target",
            ),
        ),
        lossless=True,
        strays=lambda delta: f"keeps any token that its judge finds good with more than {delta:g}" if delta < 1 else "",
        scores=True,
    ),
)
