"""The law of blanks is that of brute force; decoded one by one it is the joint law; Spiffy writes the same text in the
same order, and APD's law is that of its closed form."""

from __future__ import annotations

import pytest
import torch
from blanks_kit import Law, brute, canvases, joint, small, stack_over, start, texts
from enumerator import SAMPLED, distance, run_distribution, target_distribution
from toys import output_of

import hsd_core
from hsd_core.core.events import Event, Verify
from hsd_core.models.sampling import Sampling
from hsd_core.systems.canvas.apd import believed, mixture
from hsd_core.systems.canvas.canvas_level import next_cell
from hsd_core.systems.canvas.language import Canvas, Language, sentences
from hsd_core.systems.canvas.notes import Canvases
from hsd_core.trace.checks import check


def ran(language: Language, text: str, sampling: Sampling, tokens: int, seed: int = 1) -> list[Event]:
    stack = stack_over(language, text)
    events = list(hsd_core.run(stack, start(language), sampling, seed, max_new_tokens=tokens))
    assert check(events) == []
    return events


def test_forward_backward_is_brute_force() -> None:
    language = small(3, 4)
    for canvas in canvases(language):
        assert torch.allclose(language.rows(canvas), brute(language, canvas), atol=1e-14)
    shipped = sentences()
    assert torch.allclose(shipped.step.sum(-1), torch.ones(len(shipped.words), dtype=torch.float64))


@pytest.mark.parametrize("order", ["surest", "entropy", "left"])
def test_one_blank_a_step_leaves_the_joint_law(order: str) -> None:
    language = small(3, 3)
    found = run_distribution(stack_over(language, f"infill@order={order}"), start(language), 3)
    assert distance(texts(found, language), joint(language)) < 1e-12


def test_two_blanks_at_once_do_not() -> None:
    """Surest first, two a step, each from its own law: what the systems here are about."""
    language, law = small(3, 4), Law()

    def fill(canvas: Canvas, mass: float) -> None:
        rows, blanks = language.rows(canvas), canvas.blanks
        if not blanks:
            law[canvas.cells] = law.get(canvas.cells, 0.0) + mass  # type: ignore[index,arg-type]
            return
        first = next_cell(canvas, rows, "surest")
        second = next_cell(canvas.filled(first, 0), rows, "surest") if len(blanks) > 1 else first
        for one, p in enumerate(rows[first].tolist()):
            for two, q in enumerate(rows[second].tolist()) if second != first else ((one, 1.0),):
                fill(canvas.filled(first, one).filled(second, two), mass * p * q)

    fill(Canvas(language.first, (None,) * 4), 1.0)
    assert 0.05 < distance(law, joint(language)) < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "states:2@guess=4,infill@rule=match",
        *(
            pytest.param(text, marks=pytest.mark.everything)
            for text in ("states:3@guess=6,infill", "states:2,infill@order=left@rule=match", "infill:2,bigram")
        ),
    ],
)
def test_ahead_of_a_canvas_the_law_of_text_and_order_stays(text: str) -> None:
    language = small(2, 3)
    stack = stack_over(language, text)
    found = run_distribution(stack, start(language), 4)  # one filling of the next block
    assert distance(found, target_distribution(stack, start(language), 4)) < 1e-12


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_spiffy_writes_the_same_text_in_the_same_order(temperature: float) -> None:
    language, sampling = sentences(), Sampling(temperature)
    passes = canvases_ = 0
    for seed in range(3):
        events = ran(language, "states:4,infill@rule=match", sampling, 32, seed)
        assert output_of(events) == output_of(ran(language, "infill", sampling, 32, seed))
        verified = [e for e in events if isinstance(e, Verify)]
        passes += len(verified)
        for event in verified:
            note = Canvases.of(event)
            assert note is not None and note.count <= min(9, len(event.checks) + 1)
            canvases_ += note.count
    assert passes < 3 * 32 / 1.6, "states come true"
    assert canvases_ < 9 * passes


def apd_law(language: Language, blur: float, r: float, block: int) -> Law:
    """The law of a block by APD's own definition: passes of parallel rows, believed from the left."""
    law, words = Law(), range(len(language.words))

    def fill(canvas: Canvas, mass: float) -> None:
        blanks = canvas.blanks[:block]
        if not blanks or mass == 0.0:
            law[canvas.cells] = law.get(canvas.cells, 0.0) + mass  # type: ignore[index,arg-type]
            return
        rows = language.rows(canvas)
        for x in words:
            follow(canvas.filled(blanks[0], x), blanks[1:], rows, mass * float(rows[blanks[0], x]))

    def follow(canvas: Canvas, blanks: list[int], rows: torch.Tensor, mass: float) -> None:
        if not blanks:
            return fill(canvas, mass)
        cell, word = blanks[0], canvas.cells[blanks[0] - 1]
        assert word is not None
        m = rows[cell]
        q = mixture(m, (1 - blur) * language.step[word] + blur * language.share, r)
        kept = [float(m[x]) * believed(m, q, x) for x in words]
        for x in words:
            follow(canvas.filled(cell, x), blanks[1:], rows, mass * kept[x])
        fill(canvas, mass * (1 - sum(kept)))  # nothing replaces the rejected one

    fill(Canvas(language.first, (None,) * language.cells), 1.0)
    return law


@pytest.mark.parametrize("r", [0.5, *(pytest.param(r, marks=pytest.mark.everything) for r in (0.0, 0.2, 1.0))])
def test_apd_has_the_law_of_its_closed_form(r: float) -> None:
    """Of four tokens in blocks of three cells: the fourth, a round's last, is the reader's where one is left over."""
    language = small(2, 3)
    stack = stack_over(language, f"infill:3,bigram@blur=0.3@rule=apd@r={r}")
    found: Law = {}
    for acts, mass in run_distribution(stack, start(language), 4).items():
        found[acts[:3]] = found.get(acts[:3], 0.0) + mass
    assert distance(texts(found, language), apd_law(language, 0.3, r, 3)) < 1e-12


def test_apd_ends_at_the_joint_law_and_at_parallel_marginals() -> None:
    language = small(3, 3)
    assert distance(apd_law(language, 0.3, 0.5, 1), joint(language)) < 1e-12, "one cell a pass"
    rows = language.rows(Canvas(language.first, (None,) * 3))
    alone = {text: float(rows[0, text[0]] * rows[1, text[1]] * rows[2, text[2]]) for text in joint(language)}
    assert distance(apd_law(language, 0.3, 1.0, 3), alone) < 1e-12, "R = 1 keeps everything"
    far, near = (distance(apd_law(language, 0.0, r, 3), joint(language)) for r in (1.0, 0.0))
    assert near < far


def test_noise_that_drew_one_draws_the_other_as_often_as_the_formula_says() -> None:
    rng = torch.Generator().manual_seed(5)
    m, q = torch.rand(2, 4, generator=rng, dtype=torch.float64).softmax(-1)
    m = m**3 / (m**3).sum()
    apart = 0.5 * float((m - q).abs().sum())
    noise = -torch.log(-torch.log(torch.rand(200_000, 4, generator=rng, dtype=torch.float64)))
    ones, others = (m.log() + noise).argmax(-1), (q.log() + noise).argmax(-1)
    for x in range(4):
        often = float((others[ones == x] == x).double().mean())
        assert abs(often - believed(m, q, x)) < 0.01
    same = sum(float(m[x]) * believed(m, q, x) for x in range(4))
    assert (1 - apart) / (1 + apart) <= same <= 1 - apart
    assert believed(m, m, 0) == pytest.approx(1.0)


def test_a_run_of_apd_is_a_sound_trace_and_greedy_too() -> None:
    for sampling in (SAMPLED, Sampling()):
        events = ran(sentences(), "infill:6,bigram@blur=0.3@rule=apd", sampling, 40)
        kept = [sum(c.outcome == "accepted" for c in e.checks) for e in events if isinstance(e, Verify)]
        assert 1 < sum(kept) / len(kept) < 6
