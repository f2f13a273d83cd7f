"""Whether two models read text alike, and in words what differs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hsd_core.models.tokenizer import Tokenizer, TokenizerError, special_differences

_SHOWN = 5  # tokens, as examples
AGAIN = (
    "A draft like this goes only where its text is tokenised again for the target: as the level `cross` here, or in "
    "engines with TokenTiming or universal assisted decoding"
)


@dataclass(frozen=True, slots=True)
class Fit:
    """fits: every text gives both the same ids. differences: in words, the most important first."""

    fits: bool
    differences: tuple[str, ...]
    same_ids: int
    draft_ids: int
    target_ids: int

    def sentence(self) -> str:
        if not self.fits:
            return f"The tokenizers differ: {'; '.join(self.differences)}. {AGAIN}."
        if self.differences:
            return f"The tokenizers cut every text alike ({'; '.join(self.differences)})."
        return f"The tokenizers are the same ({self.target_ids} ids)."


def fit_of(draft: Tokenizer, target: Tokenizer) -> Fit:
    """Compare the vocabulary, the merges and the special ids of two tokenizers."""
    mine, theirs = draft.ids, target.ids
    same = sum(theirs.get(token) == i for token, i in mine.items())
    try:
        apart = special_differences(draft, target)
    except TokenizerError:
        return Fit(False, tuple(_apart(draft, target, same)), same, len(mine), len(theirs))
    said = []
    if apart:
        tokens = "1 special token differs" if len(apart) == 1 else f"{len(apart)} special tokens differ"
        said.append(f"{tokens}, such as id {apart[0]}, which the draft never drafts")
    return Fit(True, tuple(said), same, len(mine), len(theirs))


def _apart(draft: Tokenizer, target: Tokenizer, same: int) -> Iterable[str]:
    mine, theirs = draft.ids, target.ids
    shared = mine.keys() & theirs.keys()
    if alone := mine.keys() - theirs.keys():
        yield f"{len(alone)} of the draft's {len(mine)} tokens are not the target's, such as {_few(alone)}"
    if alone := theirs.keys() - mine.keys():
        yield f"{len(alone)} of the target's {len(theirs)} are not the draft's, such as {_few(alone)}"
    if moved := [token for token in shared if mine[token] != theirs[token]]:
        yield f"{len(moved)} tokens have other ids, such as {_few(moved)}"
    if draft.merges != target.merges:
        place = next(
            (n for n, (a, b) in enumerate(zip(draft.merges, target.merges, strict=False)) if a != b),
            min(len(draft.merges), len(target.merges)),
        )
        yield f"the merges differ from number {place + 1} on ({len(draft.merges)} and {len(target.merges)})"
    ours, others = draft.specials, target.specials
    if names := [name for name in ours.keys() | others.keys() if ours.get(name) != others.get(name)]:
        yield f"{len(names)} special tokens have other ids or are missing in one, such as {_few(names)}"


def _few(tokens: Iterable[str]) -> str:
    listed = sorted(tokens, key=lambda token: (len(token), token))
    return ", ".join(repr(token) for token in listed[:_SHOWN])
