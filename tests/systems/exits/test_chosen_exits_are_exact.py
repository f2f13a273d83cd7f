"""Policy `del`: exit and length chosen by what was seen, enumerated over whole runs of a random model of few tokens."""

from __future__ import annotations

import pytest
from cases import first_always
from enumerator import SAMPLED, distance, run_distribution
from lean_stacks import LeanStacks, RandomDraft, model_distribution

import hsd_core
from hsd_core.core.level import DraftOrder, Proposal
from hsd_core.models.sampling import Sampling, to_probs
from hsd_core.systems.exits.chosen_exit import ChoosingRun, Exit

EXACT = 1e-5
WRONG = 1e-3
TEXT = "exit:2@at=3@policy=del,target"


def stacks(vocab: int, trained: bool = True) -> LeanStacks:
    """Two random exits and a good one, and quick to learn: the choice changes within the few tokens enumerated.

    trained: the random ones have layers of their own; else all are read by the model's own head.
    """
    made = LeanStacks(layers=4, vocab=vocab)
    made.memory = 0.3
    if trained:
        made.drafts = {f"at{at}": RandomDraft(made.target, seed=at, absent=()) for at in (1, 2)}
    last = made.target.stack[3]
    for part in ("out", "down"):
        real = getattr(last, part)
        object.__setattr__(last, part, lambda x, real=real: 0.2 * real(x))
    return made


def off_by(text: str, tokens: int, vocab: int, sampling: Sampling = SAMPLED, trained: bool = True) -> float:
    made, prompt = stacks(vocab, trained), [1, 0]
    return distance(
        run_distribution(made.stack(text), prompt, tokens, sampling=sampling),
        model_distribution(made.target, prompt, tokens, sampling),
    )


@pytest.mark.parametrize(
    ("text", "tokens", "vocab"),
    [
        (TEXT, 4, 2),
        (TEXT + "@rule=block@bonus=0", 3, 2),
        *(
            pytest.param(*case, marks=pytest.mark.everything)
            for case in (
                *((TEXT + part, 4, 2) for part in ("@rule=block", "@bonus=0", "@rule=block@bonus=0")),
                *((TEXT, 3, 3), (TEXT, 5, 2), (TEXT + "@rule=block", 5, 2), (TEXT + "@rule=block@bonus=0", 3, 3)),
            )
        ),
    ],
)
def test_whole_runs_follow_the_targets_distribution(text: str, tokens: int, vocab: int) -> None:
    assert off_by(text, tokens, vocab) < EXACT


@first_always(
    ("sampling", "text", "tokens", "vocab"),
    [
        (sampling, *case)
        for case in ((TEXT, 3, 2), (TEXT, 3, 3), (TEXT, 5, 2), (TEXT + "@rule=block@bonus=0", 4, 2))
        for sampling in (SAMPLED, Sampling(0.0))
    ],
)
def test_exits_by_the_model_s_own_head_too(sampling: Sampling, text: str, tokens: int, vocab: int) -> None:
    assert off_by(text, tokens, vocab, sampling, trained=False) < EXACT


@pytest.mark.parametrize("sampling", [Sampling(0.7, top_p=0.8), Sampling(0.0)])
def test_cut_distributions_too(sampling: Sampling) -> None:
    assert off_by(TEXT, 3, 3, sampling) < EXACT


def test_choices_change_within_these_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: set[tuple[int, int]] = set()
    real = ChoosingRun.propose

    def watched(self: ChoosingRun, context: list[int], order: DraftOrder) -> Proposal:
        proposal = real(self, context, order)
        at = proposal.work.ran[0].hi if proposal.work.ran else 0
        chosen.add((at, len(proposal.ids)))
        return proposal

    monkeypatch.setattr(ChoosingRun, "propose", watched)
    assert off_by(TEXT, 4, 2) < EXACT
    assert len({at for at, _ in chosen}) > 1 and len({n for _, n in chosen}) > 1, chosen


def test_an_exit_chosen_by_the_token_that_it_drew_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ChoosingRun.propose

    def peeking(self: ChoosingRun, context: list[int], order: DraftOrder) -> Proposal:
        proposal = real(self, context, order)
        if proposal.ids and proposal.ids[0] == 0:  # "not this exit's token": another one's row goes up with it
            self.exits[0].keep(len(context) - 1, ())
            logits, _ = Exit.reach(self.exits[0], context)
            proposal.drawn.rows[0] = to_probs(logits, SAMPLED)[0]
        return proposal

    monkeypatch.setattr(ChoosingRun, "propose", peeking)
    assert off_by(TEXT, 4, 2) > WRONG


def test_the_stack_is_said_to_be_exact() -> None:
    assert hsd_core.stack_lossless(hsd_core.parse(TEXT), SAMPLED)
