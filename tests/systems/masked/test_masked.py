"""Parts of a masked draft: passes that share cells, the search, the adaptive length, and the rows it was trained by."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from lean_stacks import drafted_stacks

from hsd_core.core.level import DraftOrder, Sampler, Work
from hsd_core.grammar.registry import draft_forms
from hsd_core.models.drafts.draft_file import DraftError, fingerprint, read_draft, write_draft
from hsd_core.models.sampling import Sampling, to_probs
from hsd_core.systems.masked.filling import shares, surest_first
from hsd_core.systems.masked.lattice import (
    Candidate,
    Proxy,
    RecentLength,
    Search,
    Trigrams,
    candidates,
    likeliest_path,
)
from hsd_core.systems.nano.train.data.batches import collate
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.data.texts import Sample
from hsd_core.systems.nano.train.loop import _known
from hsd_core.systems.nano.train.students.student_file import tensors_of
from tests.masked_drafts import masked, masked_student

NONE: frozenset[int] = frozenset()


def test_passes_share_the_cells_evenly() -> None:
    assert [shares(7, 3), shares(2, 4), shares(4, 1)] == [[3, 2, 2], [1, 1], [4]]


def test_the_surest_cells_are_filled_first_and_the_rest_read_them() -> None:
    seen = []

    def rows(cells: Sequence[int | None]) -> tuple[torch.Tensor, Work]:
        seen.append(list(cells))
        logits = torch.zeros(3, 4)
        logits[0, 1], logits[1, 2], logits[2, 3] = 1.0, 3.0, 2.0
        if cells[1] is not None:
            logits[0, 0] = 9.0
        return logits, Work(1, 3, 0)

    order = DraftOrder(3, Sampler(lambda x: to_probs(x, Sampling()), lambda *given: 0), lambda *given: False)
    assert surest_first(3, 2, rows, order) == ([0, 2, 3], [1, 0, 0], Work(2, 6, 0))
    assert seen == [[None] * 3, [None, 2, 3]]


def test_candidates_hold_the_mass_and_always_an_end_of_the_text() -> None:
    row = torch.tensor([[0.5, 0.3, 0.1, 0.06, 0.04]]).log()
    found = candidates(row, frozenset([4]), Search(most=3, mass=0.75))[0]
    assert [one.id for one in found] == [0, 1, 4] and found[2].chance == pytest.approx(0.04)
    assert [one.id for one in candidates(row, NONE, Search(most=3, mass=0.99))[0]] == [0, 1, 2]


def test_the_line_that_reads_best_is_found_and_ends_with_the_text() -> None:
    text = Trigrams(np.array([1, 2, 3, 1, 2, 3, 1, 2, 3]), 6)
    assert [text.count(2), text.count(1, 2), text.count(1, 2, 3), text.count(3, 3)] == [3, 3, 3, 0]
    lattice = [[Candidate(5, 0.6), Candidate(2, 0.4)], [Candidate(4, 0.6), Candidate(3, 0.4)]]
    proxy = Proxy(text, 6)
    assert likeliest_path(lattice, [3, 1], proxy, NONE, Search()) == [2, 3]
    assert likeliest_path(lattice, [3, 1], proxy, NONE, Search(weight=1.0)) == [5, 4], "without the counts: the rows"
    assert likeliest_path(lattice, [3, 1], proxy, frozenset([2]), Search()) == [2]
    proxy.read([5, 4, 5, 4, 5, 4, 5])
    assert likeliest_path(lattice, [4, 5], proxy, NONE, Search(weight=0.1))[1] == 4, "the context counts too"


def test_the_length_follows_what_was_made_and_kept() -> None:
    length = RecentLength(1, 4)
    length.drafted([7, 0, 7, 7], frozenset([0]))  # one token before an end of the text
    length.judged(0)
    assert (length.made, length.length) == (2.5, 2)
    for _ in range(4):
        length.drafted([7] * length.length, NONE)
        length.judged(length.length)
    assert length.length > 2, "all was kept"


@pytest.mark.parametrize("both_sides", [True, False])
@torch.inference_mode()
def test_rows_are_those_that_the_draft_was_trained_by(both_sides: bool) -> None:
    target = drafted_stacks(5).target
    student = masked_student(target, ahead=4, both_sides=both_sides)
    draft, ids, begun = masked(target, student), (3, 1, 4, 1, 0, 2, 2, 1, 0, 3), 3
    states = target.states(ids, [target.layers])
    batch = collate([Features.of(Sample(ids, 1, "any", 1), states)], target, student.shape, device="cpu")
    last = states[target.layers].float()
    for known in ([False] * 3, *([at == held for at in range(3)] for held in range(3 * both_sides))):
        cache = draft.new_cache(32)
        draft.read(ids[:begun], torch.cat((torch.zeros(1, last.shape[1]), last[: begun - 1])), cache)
        fixed = next((i for i, held in enumerate(known) if not held), 3)
        line, cells = ids[: begun + 1 + fixed], [ids[begun + 1 + i] if held else None for i, held in enumerate(known)]
        mine = draft.rows(line, begun, [*cells[fixed:], None], last[begun - 1], cache).exp()
        found = student.filled(batch, known) if both_sides else list(student.drafted(batch, 4))
        for by, g in enumerate(found):
            assert (g is None) == (by < 3 and known[by])
            if g is not None:
                at = batch.begun(by)
                rows = student.logits(g[at[:, batch.first :]], student.copies(batch, by, fixed)).exp()
                row = rows[at[0].nonzero()[:, 0].tolist().index(begun + by), :-1]
                assert torch.allclose(row, mine[by - fixed], atol=0.03), "to the rounding of int8 products"


def test_what_is_known_in_a_step_is_never_the_last_cell() -> None:
    found = {tuple(_known(4, f"0:{step}")) for step in range(200)}
    assert all(not known[-1] for known in found) and len(found) == 8


def test_a_draft_of_another_form_is_refused(tmp_path: Path) -> None:
    target = drafted_stacks(5).target
    student = masked_student(target)
    about = {"preset": "tiny", "at": 0, "fed": 1, "layers": 1, "rows": 5, "hidden": 32, "target": "tiny", "ahead": 3}
    about |= {"fingerprint": fingerprint(target), "masked": 1}
    write_draft(tmp_path / "good.safetensors", tensors_of(student), about)
    assert read_draft(tmp_path / "good.safetensors", target, draft_forms()).ahead == 3
    write_draft(tmp_path / "bad.safetensors", tensors_of(student), about | {"fed": 0})
    with pytest.raises(DraftError, match="has more that none has"):
        read_draft(tmp_path / "bad.safetensors", target, draft_forms())
