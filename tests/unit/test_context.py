"""The context that requests carry: a line of tokens that never changes, whoever goes on from it."""

from __future__ import annotations

import random
import threading
from collections.abc import Generator
from typing import Any

import pytest
from toys import toy_stack

import hsd_core
from hsd_core.core.driver import Sequential
from hsd_core.core.events import Event
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling


def test_a_context_is_what_a_tuple_would_be() -> None:
    rng = random.Random(0)
    held: list[tuple[Context, tuple[int, ...]]] = [(Context([3]), (3,))]
    for _ in range(400):
        context, ids = rng.choice(held[-40:])
        if rng.random() < 0.3:
            n = rng.randrange(len(ids) + 2)
            held.append((context.cut(n), ids[:n]))
        else:
            more = [rng.randrange(2) for _ in range(rng.randrange(4))]
            held.append((context + more, (*ids, *more)))
    for context, ids in held:
        assert (tuple(context), len(context)) == (ids, len(ids))
        assert context == Context(ids) == list(ids)
        assert (context != Context((*ids, 1))) and (context[1:-1], context[-2:]) == (list(ids[1:-1]), list(ids[-2:]))
        assert (context[::-1], context[1::2]) == (list(ids[::-1]), list(ids[1::2]))
        if ids:
            assert (context[0], context[-1]) == (ids[0], ids[-1])
        for outside in (len(ids), -len(ids) - 1):
            with pytest.raises(IndexError, match=f"token {outside} of a context of {len(ids)}"):
                context[outside]


def test_going_on_as_before_copies_nothing() -> None:
    prompt = Context(range(1000))
    longer = prompt + [1, 2, 3]
    again = longer.cut(1001) + [2]
    assert longer._line is prompt._line is again._line
    other = longer.cut(1001) + [5]
    assert other._line is not prompt._line
    assert (longer[1000:], other[1000:]) == ([1, 2, 3], [1, 5])


def test_several_threads_may_go_on_from_one_context() -> None:
    def go_on(start: Context, number: int) -> None:
        found[number] = start + [number] * 50

    for _ in range(200):
        start, found = Context([0]), dict[int, Context]()
        threads = [threading.Thread(target=go_on, args=(start, number)) for number in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [list(found[number]) for number in (1, 2, 3)] == [[0, *[number] * 50] for number in (1, 2, 3)]


class Noting(Sequential):
    """Keeps every request's context, and what it held when it was asked."""

    asked: list[tuple[Context, list[int]]]

    def drive(self, asking: Any) -> Generator[Event, None, Any]:
        def noted() -> Generator[Any, Any, Any]:
            answer = None
            while True:
                try:
                    request = asking.send(answer)
                except StopIteration as end:
                    return end.value
                self.asked.append((request.context, list(request.context)))
                answer = yield request

        return super().drive(noted())


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_run_takes_its_driver_and_no_request_changes_later(temperature: float) -> None:
    stack, asked = toy_stack("table:2,table:4,table@rule=block", 5, seed=3), list[tuple[Context, list[int]]]()

    def drives(*made: Any) -> Noting:
        driver = Noting(*made)
        driver.asked = asked
        return driver

    options: dict[str, Any] = {"sampling": Sampling(temperature), "seed": 1, "max_new_tokens": 30}
    events = list(hsd_core.run(stack, [0], **options, driver=drives))
    usual = list(hsd_core.run(stack, [0], **options))
    assert [type(e) for e in events] == [type(e) for e in usual]
    assert [e.tokens for e in events if e.event == "commit"] == [e.tokens for e in usual if e.event == "commit"]
    assert len(asked) > 30
    assert all(list(context) == ids for context, ids in asked)
