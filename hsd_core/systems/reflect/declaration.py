"""`@reflect=` at the target: it reads every draft twice, and judges by a mixture of both readings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hsd_core.grammar.key import TOPMOST, Share, StackError
from hsd_core.grammar.kind import Site
from hsd_core.grammar.registry import Extension

if TYPE_CHECKING:
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.levels.model_level import ModelLevel

REQUEST = "\n\nOn reflection, the best way to go on from there is this:"
REFLECT = Share(
    name="reflect",
    place=67,
    counts=TOPMOST,
    usual=0.0,
    label="second reading",
    noted="second reading {}",
    around="{level} with a second reading",
    tip="how much the second reading of a draft counts, after a request to reflect; 0 is exact",
)


def build(spec: LevelSpec, site: Site, plain: Callable[[LevelSpec, Site], ModelLevel]) -> ModelLevel:
    """The target, reading twice."""
    from hsd_core.levels.trunk import Layered
    from hsd_core.systems.reflect.reflected_level import ReflectedLevel

    level = plain(spec, site)
    if not isinstance(level.decoder, Layered):
        raise StackError(f"{spec.name}: it runs whole, through transformers; leave @reflect= out")
    return ReflectedLevel(level, spec[REFLECT], tuple(site.tokenizer.within(REQUEST)))


def strays(spec: LevelSpec) -> str:
    """What the target does instead of committing its model's own choices."""
    return f"mixes its distribution with that of a second reading ({spec[REFLECT]:g})" if spec[REFLECT] else ""


EXTENDS = (
    Extension(
        of="target",
        keys=(REFLECT,),
        build=build,
        help="@reflect=0.3 has it read every draft twice, the second time after a request to reflect.",
        strays=strays,
    ),
)
