"""Shared by all tests. Few threads: the toys are far too small for more."""

from __future__ import annotations

import contextlib
import functools
import os

import pytest

from tests.covering import mark_the_others


def pytest_configure() -> None:
    # What a test finds does not depend on the machine: default stacks are the presets' own unless a test plans them.
    os.environ["HSD_DEFAULT"] = "preset"
    with contextlib.suppress(ImportError):  # tests of the page run without torch
        import torch

        torch.set_num_threads(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the tests and parameters marked `everything` too")


LEFT_OUT = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is marked `everything`, unless all is asked for; what weights take to arrive on first use does
    not count as a test's time."""
    mark_the_others(items)
    if not config.getoption("--all"):
        left_out = [item for item in items if item.get_closest_marker("everything")]
        config.stash[LEFT_OUT] = len(left_out)
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if not item.get_closest_marker("everything")]
    for item in items:
        if "smollm2_folder" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(func_only=True))
    items[:] = spread(items)


def spread(items: list[pytest.Item]) -> list[pytest.Item]:
    """The page's files among the others, evenly: a browser's test waits and has processes of its own, the others
    compute. Of two workers one is mostly here, the other there."""
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    page = [name for name in files if name.startswith("tests/app/")]
    rest = [name for name in files if name not in page]
    share = {name: n / len(some) for some in (page, rest) for n, name in enumerate(some)}
    return [item for name in sorted(files, key=share.__getitem__) for item in files[name]]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    """Every worker of pytest-xdist collects the same tests: one's count is all of them."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter) -> None:
    if count := terminalreporter.config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{count} marked `everything` left out; --all runs them too")


@pytest.fixture(scope="session")
def smollm2_folder():
    """The converted weights of preset smollm2; where they are not available a visible skip, or a failure where
    HSD_REQUIRE_WEIGHTS is set."""
    from hsd_core.models.weights import WeightsError, ensure
    from hsd_core.stacks.presets import PRESETS

    try:
        return ensure(PRESETS["smollm2"].target)
    except WeightsError as error:
        missing = f"the weights of smollm2 are not available: {error}"
        pytest.fail(missing) if os.environ.get("HSD_REQUIRE_WEIGHTS") else pytest.skip(missing)


@pytest.fixture(scope="session")
def smollm2(smollm2_folder):
    """The preset smollm2 on the CPU in float32."""
    from hsd_core.pipeline import Pipeline

    return Pipeline.open("smollm2", device="cpu", dtype="float32")


@pytest.fixture(scope="session")
def smollm2_plain(smollm2):
    """(prompt, tokens, target) -> the events of plain decoding, made once, with two likeliest tokens a row."""

    @functools.cache
    def events(prompt: str, tokens: int, target: str = "target"):
        return tuple(smollm2.run(target, prompt, max_new_tokens=tokens, heads=2))

    return events


@pytest.fixture(scope="session")
def transformers_smollm2(smollm2_folder):
    """The same weights in transformers' own model."""
    transformers = pytest.importorskip("transformers")
    return transformers.AutoModelForCausalLM.from_pretrained(smollm2_folder).float().eval()
