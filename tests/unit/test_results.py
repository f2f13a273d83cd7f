"""Tables are what the raw results give, wherever they stand; raw files are never overwritten by other results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cases import first_always

from hsd_core.cli import main
from hsd_core.cli.bench import BATCHES
from hsd_core.measure import results
from hsd_core.measure.rawfile import RawFile, measured_by, prompts_file, read_raw
from hsd_core.measure.results import SENTENCE, SENTENCES, updated, view, views
from hsd_core.measure.tables import markdown, stack_cells
from hsd_core.measure.validate import raw_results, report
from hsd_core.typed import write_whole

ROOT = Path(__file__).resolve().parents[2]
TABLES = sorted((ROOT / "assets" / "results" / "tables").glob("*.md"))
OVERVIEW = ROOT / "assets" / "results" / "README.md"
FINDINGS = OVERVIEW.with_name("findings.md")
SHIPPED = [ROOT / "README.md", OVERVIEW, FINDINGS, *TABLES]
# A benchmark under load writes its own tables, `load.md`, which its test holds to its batches.
RAW = sorted(path for path in (ROOT / "assets" / "results").rglob("*.jsonl") if path.name != BATCHES)
PAGES = sorted((ROOT / "assets" / "profiles").glob("*-validation.json"))
BLOCK = re.compile(r"^<!-- results: (\S+) (\S+) .*?^<!-- /results -->$", re.DOTALL | re.MULTILINE)
MARKED = "before\n<!-- results: raw/bench.jsonl stacks -->\nold\n<!-- /results -->\nafter\n"


@pytest.fixture(scope="module", autouse=True)
def once():
    """Raw files stay as they are: each is read, and each validation reported, once."""
    kept = {}

    def remembered(make, key):
        def made(*given):
            name = make, key(*given)
            if name not in kept:
                kept[name] = given, make(*given)  # what was given is held, so that no other has its id
            return kept[name][1]

        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "read_raw", remembered(read_raw, lambda path: (path.resolve(), path.stat().st_mtime_ns)))
        patch.setattr(
            raw_results, "read_validation", remembered(raw_results.read_validation, lambda about, _: id(about))
        )
        patch.setattr(report, "report", remembered(report.report, id))
        yield


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder with a benchmark of the toy in `raw/bench.jsonl`."""
    folder = tmp_path_factory.mktemp("swept")
    (folder / "raw").mkdir()
    (folder / "stacks").write_text("table:3@id=order1,table@id=order6\ntable:5@id=order3,table@id=order6\n")
    (folder / "own.jsonl").write_text('{"prompt": "The large ", "category": "t"}\n{"prompt": "The tower "}\n')
    asked = f"--preset toy --stacks {folder}/stacks --prompts {folder}/own.jsonl --max-new-tokens 12 --out {folder}/raw"
    assert main(["bench", "--no-peers", *asked.split()]) == 0
    (folder / "raw" / "runs.jsonl").rename(folder / "raw" / "bench.jsonl")
    return folder


def names_its_origin(block: str) -> bool:
    return bool(
        re.search(r"Measured on \S.*threads?, Python [\d.]+, torch", block)
        and re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", block)
        and "by `python -m hsd_core " in block
    )


def test_a_benchmark_keeps_a_line_a_run_and_says_of_what(swept):
    about, records = read_raw(swept / "raw" / "bench.jsonl")
    assert {"machine", "threads", "versions", "recorded", "command", "prompts", "prompts_sha256"} <= about.keys()
    assert len(records) == 2 * len(about["stacks"]) == 6
    for record in records:
        assert {"prompt", "category", "stack", "tokens", "decode_ns", "equal", "margin"} <= record.keys()
        assert len(record["judged"]) == len(record["accepted"]) == record["stack"].count(",") + 1


def test_marked_tables_are_made_anew_and_nothing_else_is(swept, capsys):
    path = swept / "some.md"
    path.write_text(MARKED)
    assert main(["results", "--update", str(path)]) == 0
    text = path.read_text()
    assert text.startswith("before\n<!-- results: raw/bench.jsonl stacks -->\n\n| stack |") and text.endswith("after\n")
    assert "old" not in text and "`table:5@id=order3,table@id=order6`" in text and names_its_origin(text)
    assert updated(path) == text, "made twice it is the same"
    capsys.readouterr()
    assert main(["results", "--update", str(path)]) == 0 and "as it was" in capsys.readouterr().err


def test_the_shortest_view_holds_the_fastest_of_each_number_of_levels(swept, monkeypatch):
    import hsd_core.measure.results as markdown

    rows = [
        {"stack": stack, "plain": plain, "tokens_per_s": rate, "prompts": 2}
        for stack, plain, rate in (
            ("a,b,target", "target", 9.0),
            ("a,b,c@x=1,target@dtype=int4", "target@dtype=int4", 8.0),
            ("a,target", "target", 7.0),
            ("b,target", "target", 6.0),
            ("target", "target", 5.0),
        )
    ]
    monkeypatch.setattr(markdown.bench, "summary", lambda *_, **__: rows)
    monkeypatch.setattr(markdown.bench, "table", lambda rows: " ".join(row["stack"] for row in rows))
    assert view(swept / "raw" / "bench.jsonl", "best").startswith("a,b,target a,target target\n")


def test_a_figure_that_was_changed_by_hand_shows(swept):
    path = swept / "changed.md"
    path.write_text(MARKED)
    path.write_text(updated(path))
    path.write_text(re.sub(r"\| 1\.00 \(", "| 1.10 (", path.read_text()))
    assert updated(path) != path.read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<!-- results: raw/bench.jsonl stacks -->\n", "behind the table"),
        (MARKED.replace("stacks", "sittings"), "views are stacks, best"),
        (MARKED.replace("bench.jsonl", "none.jsonl"), "none.jsonl"),
    ],
)
def test_a_marker_that_cannot_be_filled_is_refused(swept, capsys, text, said):
    path = swept / "bad.md"
    path.write_text(text)
    assert main(["results", "--update", str(path)]) == 2
    assert said in capsys.readouterr().err and path.read_text() == text


@pytest.mark.parametrize("text", ["", "[]\n", '{"kind": "bench", "version": 9}\n', '{"kind": "trace"}\n', "x\n"])
def test_what_is_no_raw_results_is_refused(tmp_path, text):
    (tmp_path / "raw.jsonl").write_text(text)
    with pytest.raises(ValueError, match="no raw results of version 1"):
        read_raw(tmp_path / "raw.jsonl")


def test_results_of_something_else_are_not_gone_on_with(tmp_path):
    about = {**measured_by("bench", "first"), "stacks": ["target"], "machine": "one"}
    RawFile(tmp_path / "raw.jsonl", about).add([{"prompt": 0}])
    again = RawFile(tmp_path / "raw.jsonl", {**about, "command": "second", "recorded": "later"})
    assert again.records == [{"prompt": 0}]
    assert (again.about["command"], again.about["recorded"]) == ("second", about["recorded"])
    kept = (tmp_path / "raw.jsonl").read_bytes()
    with pytest.raises(ValueError, match=r'another machine \("one", not "two"\); give a new file'):
        RawFile(tmp_path / "raw.jsonl", {**about, "machine": "two"})
    assert (tmp_path / "raw.jsonl").read_bytes() == kept


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("no room")

    path = tmp_path / "results.json"
    write_whole(path, b"old")
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="no room"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_a_table_calls_its_stacks_by_their_names_before_their_codes():
    cells = stack_cells(["ngram:3,int8:6,target", "ngram:2,int8:4,target", "target", "no stack"])
    _, _, *rows = markdown(("stack",), ([cell] for cell in cells.values())).splitlines()
    assert rows == [
        "| Lookups (3 tokens), then an 8-bit copy (6), then the model `ngram:3,int8:6,target` |",
        "| Lookups (2 tokens), then an 8-bit copy (4), then the model `ngram:2,int8:4,target` |",
        "| The model alone `target` |",
        "| `no stack` |",
    ]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_table_of_the_repository_is_what_its_raw_results_give(path):
    text = path.read_text(encoding="utf-8")
    assert updated(path) == text, f"run python -m hsd_core results --update {path.relative_to(ROOT)}"
    for block in BLOCK.finditer(text):
        assert names_its_origin(block[0]) or block[2].partition(":")[0] in SENTENCES, block[0][:200]


def test_no_figure_stands_beside_the_results_without_a_file_behind_it():
    named = set()
    for page in TABLES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"^\|", BLOCK.sub("", text), re.MULTILINE), f"{page.name}: a table outside the markers"
        named |= {(page.parent / name).resolve() for name, _ in BLOCK.findall(text)}
    assert set(RAW) == named, "every file has its tables, every table its file"
    overview = OVERVIEW.read_text(encoding="utf-8")
    assert [page.name for page in TABLES if f"(tables/{page.name})" not in overview] == []


def by_hand(text: str) -> list[str]:
    """Figures of a page's prose that no file gives: digits that are no name, date or code, and shares in words."""
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)|\d{4}-\d\d-\d\d|\(95 %\)", "", BLOCK.sub("", text))
    prose = re.sub(r"AVX-?\d+|float32|(?i:smollm2)|sha256|[48](-bit| bits)|Qwen2\.5-Coder-1\.5B|\b0\.5B", "", prose)
    shares = r"twice|half|double|times as|\ba (?:third|quarter|fifth|sixth|seventh|eighth|ninth|tenth)"
    return re.findall(rf"\S*\d\S*|{shares}", prose)


@pytest.mark.parametrize(
    "said", ["gains 2.14", "27 rows", "off by 8 %", "a tenth slower", "twice as dear", "1.3 to 2.5"]
)
def test_a_figure_of_prose_is_known(said):
    assert by_hand(f"In 8 bits, on AVX2, it {said} here.") != []


@pytest.mark.parametrize("path", [OVERVIEW, FINDINGS], ids=lambda path: path.stem)
def test_no_sentence_of_the_overview_has_a_figure_that_was_written_by_hand(path):
    assert by_hand(path.read_text(encoding="utf-8")) == []


def test_a_sentence_says_what_named_stacks_gain_and_refuses_others(swept):
    raw = swept / "raw" / "bench.jsonl"
    said = view(raw, "speed-ups:table:5@id=order3,table@id=order6")
    assert re.fullmatch(
        r"- \S.*, 2 prompts: gains of [\d.]+ \([\d.]+ to [\d.]+, `table:5@id=order3,table@id=order6`\)\.", said
    )
    assert view(raw, "speed-ups").count("`table") == 2
    assert re.search(r", tokens/s: here `table@id=order6` [\d.]+, `table", view(raw, "peers"))
    with pytest.raises(ValueError, match="no stack ngram:3,target was measured"):
        view(raw, "speed-ups:ngram:3,target")


def test_a_validation_is_told_by_sitting():
    blocks = BLOCK.findall(FINDINGS.read_text(encoding="utf-8"))
    told = {name for names, what in blocks if what == SENTENCE for name in names.split(",")}
    validations = [path for path in RAW if read_raw(path)[0]["kind"] == "validation"]
    assert {path.name for path in validations} <= told
    several = next(path for path in validations if path.name == "validate-several-smollm2-avx512-3.jsonl")
    assert view(several, SENTENCE).endswith(", 16 stacks, 2026-11-23: 8.7% and 12.4%; at worst 25.4%.")


def test_the_stacks_of_every_benchmark_stand_beside_it_and_those_of_the_readme_are_in_the_file_that_it_names():
    from hsd_core.measure.bench.prompts import read_stack_lines
    from hsd_core.measure.bench.summary import as_stacks

    in_readme = {(ROOT / name).resolve() for name, _ in BLOCK.findall(SHIPPED[0].read_text(encoding="utf-8"))}
    benches = [(path, read_raw(path)[0]) for path in RAW if read_raw(path)[0]["kind"] == "bench"]
    assert in_readme and in_readme <= {path for path, _ in benches}
    for path, about in benches:
        assert (path.parent / "stacks.txt").read_text(encoding="utf-8") == as_stacks(about["asked"]), path
        if path in in_readme:
            named = re.search(r"--stacks (\S+)", about["command"])
            assert named and list(read_stack_lines(ROOT / named[1], about["asked"]["default"])) == list(about["asked"])


@first_always("every", [False, True])
def test_every_raw_file_that_is_shipped_is_whole(every):
    """every: of every file all tables, also those that stand nowhere; else of the first of each kind."""
    kinds = set()
    for path in RAW:
        about, _ = read_raw(path)
        prompts = ROOT / "assets" / "prompts" / about["prompts"]
        assert not prompts.exists() or prompts_file(prompts)["prompts_sha256"] == about["prompts_sha256"], path
        for name in views(path) if every or about["kind"] not in kinds else ():
            assert names_its_origin(view(path, name)) or name in SENTENCES, f"{path}: {name}"
        kinds.add(about["kind"])


def test_what_the_page_draws_is_what_the_raw_results_give():
    made: dict[str, list] = {}
    for path in RAW:
        about, records = results.read_raw(path)
        if about["kind"] == "validation":
            one = raw_results.read_validation(about, records)
            made.setdefault(report.as_json(one)["about"]["machine"], []).append(one)
    pages = [json.loads(path.read_text(encoding="utf-8")) for path in PAGES]
    drawn = {page["about"]["machine"]: page for page in pages}
    assert len(drawn) == len(PAGES) and drawn.keys() == made.keys(), "every machine has one summary for the page"
    for machine, validations in made.items():
        *earlier, last = sorted(validations, key=lambda validation: validation.about["recorded"])
        assert drawn[machine] == report.as_json(last, earlier), f"no validation of {machine} is passed over"
