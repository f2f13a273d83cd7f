"""The target's reading of a finished text: which tokens are its own choice, and how much they surprise it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from hsd_core.core.driver import raise_if_stopped
from hsd_core.core.events import Bonus, Commit, Correct, Event, Header, Verify
from hsd_core.core.level import StackEntry, scorer
from hsd_core.core.run import RunSettings
from hsd_core.core.tree import named
from hsd_core.grammar import kind_of, rules
from hsd_core.grammar.stack_text import parse
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling, to_probs
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
    sampling, last = Sampling(**header.sampling), parse(header.stack)[-1]
    choices, nats, chances = _read(target, header.prompt_ids, ids, sampling, stop)
    if sampling.greedy:
        lost = float(sum(own != id_ for own, id_ in zip(choices, ids, strict=True)))
    elif kind_of(last).planning.strays(last):
        lost = drawn_against(header, events, chances)
    else:
        lost = kept_against(header, events)
    beside = _read(target, header.prompt_ids, plain, sampling, stop)[1] if plain else []
    return Price(
        tuple(choices), tuple(map(_short, nats)), _short(lost), _short(sum(beside) / len(beside)) if beside else None
    )


def drawn_against(header: Header, events: Sequence[Event], chances: Sequence[float]) -> float:
    """The expected number of tokens that an exact rule would have rejected, of a last level that draws from another
    distribution than its model's. chances: of each committed token, by the model."""
    top, said = len(header.levels) - 1, dict[int, float]()
    for event in events:
        if isinstance(event, Verify) and event.level == top:
            said |= {check.serial: check.p for check in event.checks if check.outcome == "accepted"}
        elif isinstance(event, (Correct, Bonus)) and event.level == top:
            said[event.serial] = event.p
    tokens = [token for event in events if isinstance(event, Commit) for token in event.tokens]
    return sum(1.0 - min(1.0, p / said[token.serial]) for token, p in zip(tokens, chances, strict=True))


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
    target: StackEntry, prompt: Sequence[int], text: Sequence[int], sampling: Sampling, stop: Callable[[], bool]
) -> tuple[list[int], list[float], list[float]]:
    """The target's own choice at each place of a text; of the text's token there its surprise, in nats, and its
    probability under the run's sampling."""
    ids, end = [*prompt, *text], len(prompt) + len(text)
    settings = RunSettings(sampling=Sampling(0.0), seed=0, max_new_tokens=len(text))
    (run,) = PreparedStack([target]).open(end + 1, settings)
    choices, nats, drawn = list[int](), list[float](), list[float]()
    try:
        for at in range(len(prompt), end, ROWS):
            raise_if_stopped(stop)
            some = ids[at : at + ROWS]
            rows, _ = scorer(run).score(Context(ids[:at]), named(some[:-1]))
            chances, index = rows.float().log_softmax(-1).cpu(), torch.tensor(some)[:, None]
            own, best = chances.gather(1, index)[:, 0], chances.max(-1)
            tied = best.values - own < TIE
            choices += [a if tie else b for a, b, tie in zip(some, best.indices.tolist(), tied.tolist(), strict=True)]
            nats += (-own).tolist()
            drawn += to_probs(rows.cpu(), sampling).gather(1, index)[:, 0].tolist()
    finally:
        run.close()
    return choices, nats, drawn


def _short(x: float) -> float:
    return float(f"{x:.6g}")
