"""Which levels cannot work beside the target: those that read its last states (see `stacks.chosen_driver`)."""

from __future__ import annotations

from collections.abc import Sequence

from hsd_core.grammar import kind_of, reads_draft
from hsd_core.grammar.key import StackError
from hsd_core.grammar.keys import ID
from hsd_core.grammar.stack_text import LevelSpec, parse
from hsd_core.models.drafts import known_drafts
from hsd_core.theory.profiles.profile import Profile


def needs_target(profile: Profile, below: Sequence[int]) -> str:
    """The name of the level below the target that reads its last states; "" where none does, or nobody knows.

    A copy of the target above it, on the drafter's own lane, has such states too.
    """
    preset = str(profile.about.get("preset", ""))
    for place, level in enumerate(below):
        spec = _spec(profile.levels[level].spec)
        copies = [_spec(profile.levels[other].spec) for other in below[place + 1 :]]
        if spec is not None and _fed(spec, preset) and not any(one and _is_copy(one) for one in copies):
            return profile.names[level]
    return ""


def _spec(text: str) -> LevelSpec | None:
    try:
        return parse(f"{text},target")[0] if text else None
    except StackError:
        return None


def _is_copy(spec: LevelSpec) -> bool:
    """The target's own weights, all layers of them."""
    reads = kind_of(spec).shares.reads
    return reads is not None and reads.depth is None


def _fed(spec: LevelSpec, preset: str) -> bool:
    """Whether it is a trained draft that is fed; without @id= the first that it reads, as it is opened."""
    own = [draft for draft in known_drafts.shipped(preset) if reads_draft(spec, draft)]
    named = spec.get(ID)
    return next((draft.follows for draft in own if named in (None, draft.name)), False)
