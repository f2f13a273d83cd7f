"""What follows from a sweep: the length to use, a profile for `plan`, and how far the advice is from the best."""

from __future__ import annotations

from collections.abc import Iterator

from hsd_core.doctor.counted_share import flat_share
from hsd_core.doctor.draft_profile import DraftProfile, profile_of
from hsd_core.doctor.gain import gain_of
from hsd_core.measure.probe.http_server import ProbeError
from hsd_core.measure.probe.length_sweep import Kept, rows
from hsd_core.measure.results.sheet import markdown
from hsd_core.theory import Costs, Profile, ProfileLevel

CLOSE = 0.05  # of the time of a token: what counts as as good as the best


def recommended(kept: Kept) -> tuple[int, dict[int, float]]:
    """The draft length to use, 0 for none, and the ms of a token at every length that was measured or lies between two.

    Raises:
        ProbeError: what was measured does not suffice.
    """
    gain = gain_of(profile_of(kept.listed())) if kept.runs else None
    if gain is None or 0 not in kept.lengths():
        raise ProbeError("no advice yet: measure without drafts (--length 0) and at two draft lengths or more")
    predicted = {length.k: length.ms for length in gain.lengths if length.k <= max(kept.lengths())}
    return min(predicted, key=lambda k: predicted[k]), predicted


def advice_lines(kept: Kept) -> Iterator[str]:
    """The sweep for people: every length, and which one to use."""
    figures = [(k or "none", f"{ms:.2f}", f"{tokens:.2f}", f"{each:.2f}") for k, ms, tokens, each in rows(kept)]
    yield markdown(("draft length", "ms a pass", "tokens a pass", "ms a token"), figures)
    profile = profile_of(kept.listed())
    if profile.conditional:
        shares = ", ".join(f"{share.value:.2f}" for share in profile.conditional)
        yield f"\naccepted, given that all before it were: {shares} (by position)"
    try:
        best, predicted = recommended(kept)
    except ProbeError as why:
        yield f"\n{why}"
        return
    plain = predicted[0]
    if best:
        more = "; longer ones were not measured, and may be better" if best == max(predicted) else ""
        gain = plain / predicted[best]
        yield f"\nuse drafts of {best}: {predicted[best]:.2f} ms a token, {gain:.2f} times plain decoding{more}"
    else:
        close = min((k for k in predicted if k), key=lambda k: predicted[k])
        yield (
            f"\nleave speculation off: the best length, {close}, takes {predicted[close]:.2f} ms a token and plain "
            f"decoding {plain:.2f}"
        )


def plan_profile(kept: Kept) -> Profile:
    """Two levels, the draft and the target, as `plan` takes them.

    An engine tells a pass with its draft as one time. Of that, as much is the draft's as leaves no verification cheaper
    than a plain pass; the sum, which is all that a plan of two levels pays, is what was measured. A profile has one
    acceptance: that which gives the tokens a pass that were measured at the longest length.

    Raises:
        ProbeError: plain decoding or the drafts were not measured.
    """
    measured = {k: (ms, tokens) for k, ms, tokens, _ in rows(kept)}
    drafting = {k: ms for k, (ms, _) in measured.items() if k}
    profile = profile_of(kept.listed()) if kept.runs else DraftProfile("")
    if 0 not in measured or not drafting or profile.accepted is None:
        raise ProbeError("no profile yet: measure without drafts (--length 0) and with the engine's own drafts")
    plain = measured[0][0]
    draft_ms = min((ms - plain) / k for k, ms in drafting.items())
    draft_ms = max(draft_ms, 0.01 * plain)
    costs = {1: plain, **{k + 1: max(ms - k * draft_ms, plain) for k, ms in drafting.items()}}
    longest = max(drafting)
    share = flat_share(measured[longest][1] - 1.0, longest)
    about = {
        "engine": profile.engine,
        "note": "measured from outside by probe: draft and verification are told apart by the least that a pass takes",
        "acceptance_by_position": [round(one.value, 4) for one in profile.conditional],
        "prompts": kept.prompts,
        "tokens": kept.tokens,
    }
    target = ProfileLevel("target", Costs(tuple(costs), tuple(round(ms, 4) for ms in costs.values())))
    draft = ProfileLevel("draft", Costs.constant(round(draft_ms, 4)), draft_ms=round(draft_ms, 4))
    return Profile((draft, target), ((1.0, round(share, 4)), (0.0, 1.0)), max_block=max(16, longest), about=about)


def checked(kept: Kept, swept: Kept) -> tuple[str, bool]:
    """The advice of one sweep beside the times of another, on other prompts: a table, and whether it holds.

    Args:
        kept: what the advice is drawn from. swept: every length, on prompts that it has not seen.
    Raises:
        ProbeError: one of them does not suffice.
    """
    best, predicted = recommended(kept)
    measured = {k: each for k, _, _, each in rows(swept)}
    if best not in measured:
        raise ProbeError(f"length {best} is recommended, and the other sweep has {sorted(measured)}; measure it too")
    quickest = min(measured, key=lambda k: measured[k])
    off = measured[best] / measured[quickest] - 1.0
    lines = [
        (
            k or "none",
            f"{predicted[k]:.2f}" if k in predicted else "",
            f"{each:.2f}",
            f"{measured[0] / each:.2f}" if 0 in measured else "",
            " and ".join(said for said, true in (("recommended", k == best), ("quickest", k == quickest)) if true),
        )
        for k, each in sorted(measured.items())
    ]
    head = ("draft length", "ms a token, predicted", "ms a token, measured on other prompts", "times plain", "")
    said = f"The recommended length takes {off:.1%} longer a token than the quickest one."
    return f"{markdown(head, lines)}\n\n{said}", off <= CLOSE
