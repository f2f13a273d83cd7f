"""The target without some of its attentions and MLPs (Draft & Verify, arXiv 2309.08168)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hsd_core.core.policies import Confidence
from hsd_core.grammar.key import DRAFTER, FileName, StackError
from hsd_core.grammar.keys import DTYPE, THETA, VERIFIES
from hsd_core.grammar.kind import PURPLE, Kind, KindText, Look, NameForms, Placement, Planning, Reads, Shares, Site
from hsd_core.grammar.strategies import PolicyKind
from hsd_core.systems.skip.sublayer_sets import EMPTY

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.levels.self_draft import SkipLevel


@dataclass(slots=True)
class Adaptive(Confidence):
    """`Confidence` with a threshold that follows the acceptance; theta is its start.

    Draft&Verify (arXiv 2309.08168, section 3.3). After every block that the level above has verified

        m   <- 1/2 m + 1/2 accepted / drafted
        th' =  th + step if m is below the target, else th - step
        th  <- keep th + (1 - keep) th'

    A block of T tokens was not stopped by the threshold, so acceptance above the target does not lower it then.
    """

    step: float = 0.01
    keep: float = 0.9
    target: float = 0.9
    match: float = 1.0

    @property
    def moving(self) -> float | None:  # type: ignore[override]
        return self.theta

    def on_verified(self, handed_up: int, accepted: int, block: int) -> None:
        self.match = 0.5 * self.match + 0.5 * accepted / handed_up
        if self.match < self.target:
            wanted = self.theta + self.step
        elif handed_up < block:
            wanted = self.theta - self.step
        else:
            return
        self.theta = min(1.0, max(0.0, self.keep * self.theta + (1.0 - self.keep) * wanted))


SET = FileName(
    name="set",
    place=62,
    counts=DRAFTER,
    terms={EMPTY: "nothing left out"},
    noted="{}",
    noun="set of sublayers",
    listed="sets",
    known=(EMPTY,),
)


def offer_skip(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    from hsd_core.systems.skip.sublayer_sets import shipped_sets

    known = [one.name for one in shipped_sets(preset.name)]
    lacks = f"no set was searched; run python -m hsd_core sets --preset {preset.name}"
    reason = preset.whole or ("" if known else lacks)
    return [kind.entry("layers left out", reason=reason, params={SET.name: known[0]} if known else {}, sets=known)]


def build_skip(spec: LevelSpec, site: Site) -> SkipLevel:
    from hsd_core.levels.self_draft import SkipLevel, Sublayered
    from hsd_core.models.drafts.draft_file import fingerprint
    from hsd_core.models.lean.sublayers import NONE
    from hsd_core.models.one_pass import Pass
    from hsd_core.systems.skip.sublayer_sets import SetError, find_set

    decoder = site.layered(spec)
    if not isinstance(decoder, Sublayered):
        raise StackError(f"{spec.name}: the target's decoder runs its layers whole; leave the level out")
    named = spec.get(SET)
    try:
        found = find_set(named, site.preset.name, site.file(named) if named else None)
    except SetError as error:
        raise StackError(f"{spec.name}: {error}") from error
    if found and (found.layers != decoder.layers or found.fingerprint != fingerprint(decoder)):
        raise StackError(
            f"{spec.name}: set {found.name} was searched for {found.target}, not for this target; search one of its "
            f"own with python -m hsd_core sets --preset {site.preset.name}, or write @set={EMPTY}"
        )
    without = found.sublayers if found else NONE
    decoder.leaving_out(decoder.new_cache(1), without)(Pass([0]))  # laid out now, not within a run
    weights = site.preset.target.as_dict(site.folder)
    return SkipLevel(decoder, without, called=found.name if found else EMPTY, weights=weights)


SKIP = Kind(
    name="skip",
    order=61,
    look=Look("S", PURPLE, "dotted"),
    text=KindText(
        title="layers left out",
        about="The target without some of its attentions and MLPs (Draft & Verify).",
        help="@set= names which: a file that python -m hsd_core sets searched for these weights; @set=none leaves "
        "nothing out. Every round begins from the target's own keys and values.",
        in_names=NameForms(("the model with layers left out",)),
    ),
    keys=(*VERIFIES, SET, DTYPE),
    placement=Placement(needs=frozenset({"weights"})),
    shares=Shares(reads=Reads(), of_target=lambda spec: True),
    planning=Planning(named=True),
    offer=offer_skip,
    build=build_skip,
)
KINDS = (SKIP,)
POLICIES = (
    PolicyKind(
        name="adaptive",
        order=40,
        words="adaptive · stop when uncertain; the threshold follows the acceptance",
        make=Adaptive,
        in_names="stops when unsure, adapting",
        keys=(THETA.usually(0.6, "the starting threshold"),),
    ),
)
