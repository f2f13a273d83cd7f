"""The target's reading of a finished text: which tokens are its own choice, and how much they surprise it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from hsd_core.core.driver import raise_if_stopped
from hsd_core.core.events import Commit, Event, Header, Verify
from hsd_core.core.level import StackEntry, scorer
from hsd_core.core.run import RunSettings
from hsd_core.core.tree import named
from hsd_core.grammar import rules
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling, is_greedy
from hsd_core.stacks.prepared import PreparedStack
from hsd_core.systems.price.notes import Price
from hsd_core.trace.comparison import TIE
from hsd_core.trace.conventions import spared
from hsd_core.trace.metrics import committed_ids, header_of

ROWS = 64  # at once


def read_price(target: StackEntry, events: Sequence[Event], plain: Sequence[int], *, stop: Callable[[], bool]) -> Price:
    """The price of a run's text.

    Args:
        target: plain decoding of the run's target. events: the run's, at least its header, the target's verifications
            and the commits. plain: the ids of plain decoding's text; none if it was not written.
    Raises:
        Stopped: `stop`, asked between passes, turned true.
    """
    header, ids = header_of(events), committed_ids(events)
    choices, nats = _read(target, header.prompt_ids, ids, stop)
    drawn = not is_greedy(header.sampling)
    other = sum(own != id_ for own, id_ in zip(choices, ids, strict=True))
    return Price(
        tuple(choices),
        tuple(map(_short, nats)),
        _short(kept_against(header, events)) if drawn else float(other),
        _short(sum(_read(target, header.prompt_ids, plain, stop)[1]) / len(plain)) if plain else None,
    )


def kept_against(header: Header, events: Sequence[Event]) -> float:
    """How many committed tokens the target kept though an exact rule, with the same coins, would have rejected them; of
    a rule that is never exact and throws no coin, the expectation."""
    top = len(header.levels) - 1
    rule = rules().get(header.levels[top].rule or "")
    committed = {token.serial for event in events if isinstance(event, Commit) for token in event.tokens}
    total = 0.0
    for event in events:
        if not isinstance(event, Verify) or event.level != top:
            continue
        for check in event.checks:
            if check.serial not in committed:
                continue
            if check.outcome == "accepted" and check.coin is None and rule is not None and not rule.lossless:
                total += 1.0 - min(1.0, check.p / check.q if check.q else float(check.p > 0.0))
            else:
                total += spared(check)
    return total


@torch.inference_mode()
def _read(
    target: StackEntry, prompt: Sequence[int], text: Sequence[int], stop: Callable[[], bool]
) -> tuple[list[int], list[float]]:
    """The target's own choice at each place of a text, and the surprise of the text's token there, in nats."""
    ids, end = [*prompt, *text], len(prompt) + len(text)
    settings = RunSettings(sampling=Sampling(0.0), seed=0, max_new_tokens=len(text))
    (run,) = PreparedStack([target]).open(end + 1, settings)
    choices, nats = list[int](), list[float]()
    try:
        for at in range(len(prompt), end, ROWS):
            raise_if_stopped(stop)
            some = ids[at : at + ROWS]
            rows, _ = scorer(run).score(Context(ids[:at]), named(some[:-1]))
            chances = rows.float().log_softmax(-1).cpu()
            own, best = chances.gather(1, torch.tensor(some)[:, None])[:, 0], chances.max(-1)
            tied = best.values - own < TIE
            choices += [a if tie else b for a, b, tie in zip(some, best.indices.tolist(), tied.tolist(), strict=True)]
            nats += (-own).tolist()
    finally:
        run.close()
    return choices, nats


def _short(x: float) -> float:
    return float(f"{x:.6g}")
