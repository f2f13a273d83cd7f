"""What transformers' assisted generation does, which `generate` itself does not tell: one file, to copy.

    from counting_generate import counting

    with counting(model) as counts:
        model.generate(**inputs, assistant_model=assistant, max_new_tokens=128)
    print(counts.line())  # one line of JSON; keep those of several prompts in a file

    python -m hsd_core doctor counts.jsonl

The same around a `generate` without an assistant gives the time of a plain token. It needs torch and transformers 5.20
or newer, and works with every assistant that proposes candidates (a model, a lookup in the prompt, an early exit). The
first round reads the whole prompt, so it is counted nowhere.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch


@dataclass
class Counts:
    """One `generate`, by rounds behind the first.

    drafted, accepted: tokens a round. draft_ms: ms that the assistant took for it. round_ms: ms from the end of the
    last round to its own, the target's pass included. Of plain decoding: `round_ms` alone.
    """

    drafted: list[int] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)
    draft_ms: list[float] = field(default_factory=list)
    round_ms: list[float] = field(default_factory=list)
    assistant: str = ""

    def line(self) -> str:
        """As JSON; `speculative_decoding` has the names that vLLM has for it, and is null where nothing was drafted."""
        rounds, ms = len(self.round_ms), sum(self.round_ms)
        tokens = sum(self.accepted) + rounds
        most = max(self.drafted, default=0)
        spec = {
            "method": self.assistant,
            "num_spec_steps": rounds,
            "num_draft_tokens": sum(self.drafted),
            "num_accepted_draft_tokens": sum(self.accepted),
            "num_spec_tokens": most,
            "mean_acceptance_length": tokens / rounds if rounds else None,
            "draft_acceptance_rate": sum(self.accepted) / sum(self.drafted) if sum(self.drafted) else None,
            "acceptance_histogram": [self.accepted.count(n) for n in range(most + 1)],
            "per_step_accepted": self.accepted,
            "per_step_drafted": self.drafted,
        }
        metrics = {
            "generation_time_ms": round(ms, 3),
            "draft_time_ms": round(sum(self.draft_ms), 3),
            "mean_itl_ms": round(ms / tokens, 4) if tokens else None,
            "speculative_decoding": spec if self.assistant else None,
        }
        return json.dumps({"engine": "transformers", "usage": {"completion_tokens": tokens}, "metrics": metrics})


@contextmanager
def counting(model: Any) -> Iterator[Counts]:
    """Count what the next `model.generate` does; the model is as before when the block ends."""
    counts, made = Counts(), model._get_candidate_generator
    ended: list[float] = []  # s, of every pass of the target

    def candidates(*args: Any, **more: Any) -> _Counted:
        inner = made(*args, **more)
        counts.assistant = type(inner).__name__
        return _Counted(inner, counts, ended)

    def passed(*_: Any) -> None:
        ended.append(_now())

    model._get_candidate_generator = candidates  # of this one object: nothing is changed in the library
    hook = model.register_forward_hook(passed)
    try:
        yield counts
    finally:
        hook.remove()
        del model._get_candidate_generator
    if not counts.assistant:
        counts.round_ms = [1e3 * (b - a) for a, b in pairwise(ended)]


class _Counted:
    """A candidate generator that times and counts another one."""

    def __init__(self, inner: Any, counts: Counts, ended: list[float]) -> None:
        self._inner, self._counts, self._ended = inner, counts, ended
        self._last: float | None = None  # s, the end of the round before
        self._drafted, self._draft_ms = 0, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def get_candidates(self, input_ids: torch.Tensor, *args: Any, **more: Any) -> Any:
        began = _now()
        ids, logits = self._inner.get_candidates(input_ids, *args, **more)
        self._draft_ms = 1e3 * (_now() - began)
        self._drafted = ids.shape[1] - input_ids.shape[1]
        return ids, logits

    def update_candidate_strategy(self, input_ids: torch.Tensor, scores: Any, num_matches: int) -> Any:
        result = self._inner.update_candidate_strategy(input_ids, scores, num_matches)
        now = _now()
        if self._last is not None:
            self._counts.drafted.append(self._drafted)
            self._counts.accepted.append(int(num_matches))
            self._counts.draft_ms.append(self._draft_ms)
            self._counts.round_ms.append(1e3 * (now - self._last))
        self._last = now
        return result


def _now() -> float:
    """s, when all that was asked of a GPU is done."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()
