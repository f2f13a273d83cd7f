"""The examples that hsd_core/README.md names, laid where a system stands and run as they are."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from enumerator import distance, merged_distribution, run_distribution, target_distribution
from toys import toy_stack

import hsd_core
from hsd_core import systems
from hsd_core.cli.terminal import letter
from hsd_core.core.events import Draft, Footer, Header, Verify
from hsd_core.grammar import policies, policy_of
from hsd_core.grammar.stack_text import StackError, format_stack, grammar, parse, stack_lossless
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.trace.checks import check
from hsd_core.trace.file import read

CORE = Path(hsd_core.__file__).parent
README = (CORE / "README.md").read_text(encoding="utf-8")
EXAMPLES = [CORE / name for name in re.findall(r"\((\S+/single_files/\w+\.py)\)", README)]
STACK = "even:4@policy=heuristic,table:3@policy=heuristic@rule=wary@id=order1,table@rule=wary@id=order6"


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Copies of them, laid beside the package's own systems."""
    for path in EXAMPLES:
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(systems, "__path__", [*systems.__path__, str(tmp_path)])
    yield
    for path in EXAMPLES:
        sys.modules.pop(f"{systems.__name__}.{path.stem}", None)
        vars(systems).pop(path.stem, None)


def test_there_is_one_of_each_where_they_are_looked_for() -> None:
    assert [path.name for path in EXAMPLES] == ["even.py", "wary.py", "heuristic.py", "post.py"]
    with pytest.raises(StackError, match="unknown level 'even'"):
        parse(STACK)


@pytest.mark.usefixtures("examples")
def test_they_are_read_run_and_recorded() -> None:
    assert format_stack(parse(STACK)) == STACK
    events = list(Pipeline.open("toy").run(STACK, "The small level", max_new_tokens=40, seed=3, temperature=1.0))
    assert check(events) == []
    header = events[0]
    assert isinstance(header, Header) and header.lossless and any(isinstance(e, Footer) for e in events)
    assert [(level.policy, level.rule) for level in header.levels] == [
        ("heuristic", None),
        ("heuristic", "wary"),
        (None, "wary"),
    ]
    assert (header.levels[0].kind, letter(header, 0)) == ("even", "V")
    judged = [one for e in events if isinstance(e, Verify) for one in e.checks]
    assert {one.outcome for one in judged} >= {"accepted", "rejected"}
    assert sum(one.coin is not None for one in judged) > 5
    assert len({len(e.ids) for e in events if isinstance(e, Draft)}) > 1, "the policy moves the length"


@pytest.mark.usefixtures("examples")
def test_the_scheduler_is_exact() -> None:
    for text in ("table:2,table@with=post", "ngram:2,table@with=post"):
        stack = toy_stack(text, 2, seed=7)
        assert distance(run_distribution(stack, [0], 3), target_distribution(stack, [0], 3)) < 1e-12
    events = list(Pipeline.open("toy").run("table:3@id=order1,table@with=post@id=order6", "The", max_new_tokens=40))
    assert check(events) == [] and events[0].reckoned


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize("sampling", [Sampling(1.0), Sampling(0.0)], ids=["sampled", "greedy"])
@pytest.mark.parametrize(
    "text",
    [
        "table:3@policy=heuristic,table@rule=wary",
        "ngram:3@policy=heuristic,table@rule=wary",
        "table:2,table:2@rule=wary@policy=heuristic,table@rule=block",
        "table:2@policy=heuristic,table:2@rule=wary@bonus=0,table@rule=wary@bonus=0",
    ],
)
def test_rule_and_policy_follow_the_targets_distribution(text: str, sampling: Sampling) -> None:
    stack = toy_stack(text, 2, seed=5)
    assert stack_lossless(parse(text), sampling)
    dist = merged_distribution(stack, [0], 4, sampling=sampling)
    assert distance(dist, target_distribution(stack, [0], 4, sampling=sampling)) < 1e-12


@pytest.mark.usefixtures("examples")
def test_the_page_is_given_their_names_and_words() -> None:
    given = grammar()
    keys = {key["name"]: key for key in given["keys"]}
    assert "even" in {kind["name"] for kind in given["kinds"]}
    assert keys["rule"]["words"]["wary"] == "wary · keep half of what it could"
    assert list(keys["policy"]["words"])[-2:] == ["heuristic", "del"]
    with pytest.raises(StackError, match="target: rule wary judges one candidate"):
        parse("ngram:4@guess=3,target@rule=wary")
    with pytest.raises(StackError, match="table: @k belongs to the rule top"):
        parse("even:2,table@rule=wary@k=2")


@pytest.mark.everything
@pytest.mark.weights
@pytest.mark.usefixtures("smollm2_folder")
def test_a_text_is_plugged_in_as_a_database(tmp_path: Path) -> None:
    readme = (CORE / "README.md").read_text(encoding="utf-8")
    (found,) = [block for block in re.findall(r"```sh\n(.*?)```", readme, re.S) if "ngram-text" in block]
    build, use = (shlex.split(line) for line in found.splitlines())
    (tmp_path / "hsd_core").symlink_to(CORE)  # what they write lies beside it, as it would beside the reader's
    for python, *command in (build, [*use, "--trace", "run.jsonl"]):
        assert python == "python"
        subprocess.run([sys.executable, *command], cwd=tmp_path, check=True)
    events = list(read(tmp_path / "run.jsonl"))
    assert check(events) == []
    sources = {source for event in events if isinstance(event, Draft) for source in event.sources}
    assert isinstance(events[0], Header) and events[0].levels[0].params["files"] == {"s": "core.npz"}
    assert "s" in sources, "the text was looked up"


def test_a_kind_that_is_written_as_a_policy_is_none() -> None:
    level = parse("exit:6@at=8@policy=del,target")[0]
    keys = {key["name"]: key for key in grammar()["keys"]}
    assert "del" not in policies() and "del" in keys["policy"]["choices"]
    assert policy_of(level) is policy_of(parse("exit:6@at=8,target")[0])


def test_every_idea_of_the_readme_has_two_places_at_most_and_they_are_there() -> None:
    said = (CORE / "README.md").read_text(encoding="utf-8").split("## Where to look")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in said.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 20
    for idea, files in rows:
        named = [name for name in re.findall(r"`([^`]+)`", files) if "/" in name]
        assert 1 <= len(named) <= 2, idea
        roots = (CORE, CORE.parent)
        assert all(any((root / name).exists() for root in roots) for name in named), idea
