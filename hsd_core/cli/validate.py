"""`validate`: compares predicted and measured ms per token of many stacks, on prompts that nothing was tuned on.
`results`: prints the tables of raw results, or updates them in Markdown files.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.cli.options import counts, flag, option, reads, writes
from hsd_core.cli.shared_options import add_preset, command, countdown, opened, preset_from
from hsd_core.measure import bench
from hsd_core.measure.rawfile import RawFile, measured_by, now, prompts_file, ran_on, read_raw
from hsd_core.measure.validate.raw_results import ENDING, NAMED
from hsd_core.theory import Planner, Profile, TextLengths, has_specs, plan_of, read_profile, stack_text
from hsd_core.typed import pretty
from hsd_core.typed.program_files import ASSETS

if TYPE_CHECKING:
    from hsd_core.measure.validate.raw_results import Validation


PROMPTS = ASSETS / "prompts" / "blind-3.jsonl"
LENGTH = 40  # tokens, as for the texts of calibrate
DEPTH = 4  # most levels of the stacks chosen by the planner


def add(commands: Any) -> None:
    parser = command(commands, "validate", "compare the theory's predictions with measurements", act)
    add_preset(parser)
    reads(parser, "--profile FILE", "profile of the preset on this machine (calibrate)", required=True)
    reads(parser, "--stacks FILE", "one stack per line, of levels of the profile", required=True)
    reads(parser, "--prompts FILE", "prompts that nothing was tuned on", default=str(PROMPTS))
    counts(parser, "--limit N", "only the first N prompts")
    counts(parser, "--each N", "N new prompts in each sitting (default: all in each)")
    option(parser, "--max-new-tokens N", f"length limit (default {LENGTH})", type=int, default=LENGTH)
    option(parser, "--model", f"whose predictions count (default {NAMED})", choices=ENDING, default=NAMED)
    counts(parser, "--sittings N", "how many to add to the file (default 1)", default=1)
    writes(parser, "--out FILE", "raw results; running it again adds a sitting", goes_on=True, required=True)
    writes(parser, "--summary FILE", "the data for the page's Planner (JSON)")
    reads(parser, "--earlier FILE", "earlier raw results that the page also names", nargs="+", default=[])
    flag(parser, "--detail", "also print what each level of each stack did")
    _add_results(commands)


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure.validate.raw_results import predicted, read_validation
    from hsd_core.measure.validate.report import TABLES, method, report
    from hsd_core.theory.profiles.profile_store import digest

    profile, prompts = read_profile(options.profile), bench.read_prompts(options.prompts)[: options.limit]
    if options.max_new_tokens < 2:
        raise ValueError("nothing to predict; give at least 2 to --max-new-tokens")
    picked = picks(profile)
    stacks = bench.with_plain([*bench.read_stacks(options.stacks), *picked.values()])
    for stack in stacks:  # refuses what the theory or the preset cannot do now, not after an hour
        plan_of(profile, stack)
    lengths = (profile.lengths or TextLengths(options.max_new_tokens, 1)).under(options.max_new_tokens)
    about = {
        **measured_by("validation", options.command_line),
        "preset": preset_from(options).name,
        "model": options.model,
        "profile_digest": digest(profile),
        "max_new_tokens": options.max_new_tokens,
        "texts": len(prompts),
        **({"each": options.each} if options.each else {}),
        **prompts_file(options.prompts),
        "lengths": "calibration" if profile.lengths else "every text to the limit",
        "stacks": stacks,
        "picks": picked,
        "predicted": predicted(profile, stacks, lengths, options.max_new_tokens, options.model),
        "profile": profile.as_dict(),
    }
    pipeline = opened(options, stacks[0])
    for stack in stacks:
        pipeline.entries(stack)
    raw = RawFile(Path(options.out), {**about, "device": pipeline.device, "dtype": pipeline.dtype})

    def runner(stack: str, prompt: str) -> Iterator[Any]:
        return pipeline.run(
            stack, prompt, temperature=profile.temperature, max_new_tokens=options.max_new_tokens, heads=0
        )

    due = _due(read_validation(raw.about, raw.records), options.sittings, options.each or len(prompts))
    for number, which in [(number, share(number, options.each, len(prompts))) for number in due]:
        _sit(raw, number, runner, prompts, which, {**ran_on(pipeline.device), "command": options.command_line})
    validation = read_validation(raw.about, raw.records)
    found = report(validation)
    shown = ("stacks", "models", "terms", *(["levels"] if options.detail else []), "sittings")
    print("\n\n".join((*(TABLES[name](found) for name in shown), method(validation))))
    if options.summary:
        write_summary(validation, Path(options.summary), options.earlier)
    return 0


def picks(profile: Profile) -> dict[str, str]:
    """The stacks chosen by the planner: the best of all, and the best of each number of levels."""
    answer = Planner(profile, stops=True, catch_up=True).best()
    wanted = [("best", answer.best), *((f"{len(r.plan.levels)} levels", r) for r in answer.by_depth[1:DEPTH])]
    return {name: stack_text(profile, r.plan) for name, r in wanted if has_specs(profile, r.plan)}


def write_summary(validation: Validation, path: Path, earlier: Sequence[str] = ()) -> None:
    """Writes the data for the page. `earlier`: files of earlier validations."""
    from hsd_core.measure.validate.raw_results import read_validation
    from hsd_core.measure.validate.report import as_json

    before = [read_validation(*read_raw(file)) for file in earlier]
    path.write_text(pretty(as_json(validation, before)) + "\n", encoding="utf-8")


def share(number: int, each: int | None, prompts: int) -> range:
    """The prompts of a sitting: all of them, or the next `each`.

    Raises:
        ValueError: too few are left.
    """
    if each is None:
        return range(prompts)
    if number * each > prompts:
        raise ValueError(
            f"sitting {number} needs {each} unused prompts, and all {prompts} were used; give new ones "
            "to --prompts, and a new file to --out"
        )
    return range((number - 1) * each, number * each)


def _due(found: Validation, more: int, prompts: int) -> range:
    """The sittings to run; an interrupted one is finished first and counts. `prompts`: number in a sitting."""
    last = max((sitting.number for sitting in found.sittings), default=0)
    complete = all(sitting.prompts == prompts for sitting in found.sittings)
    return range(last + 1, last + more + 1) if complete else range(last, last + more)


def _sit(
    raw: RawFile, number: int, runner: bench.Runner, prompts: list[bench.Prompt], which: range, on: dict[str, Any]
) -> None:
    """Runs one sitting on some of the prompts, or continues an interrupted one."""
    from hsd_core.measure.validate.raw_results import measure

    own = [record for record in raw.records if record["sitting"] == number]
    finished = bench.completed((bench.from_record(r["run"]) for r in own if "run" in r), raw.about["stacks"])
    done = frozenset(m.prompt for m in finished)
    torn = [r for r in own if "run" in r and r["run"]["prompt"] not in done]
    raw.keep(record for record in raw.records if record not in torn)
    if not done:
        raw.keep(record for record in raw.records if record["sitting"] != number)
        raw.add([{"sitting": number, "began": now(), "prompts": len(which), **on}])
    report, others = countdown(f"sitting {number}, prompt", len(which), len(done)), {*range(len(prompts))} - {*which}
    with closing(measure(runner, raw.about["stacks"], prompts, done | others)) as batches:
        for batch in batches:
            raw.add(run.as_record(number) for run in batch)
            report()


def _add_results(commands: Any) -> None:
    parser = command(commands, "results", "tables of raw results of bench, validate and others", results)
    reads(parser, "files FILE", "raw results; print their tables as Markdown", nargs="*")
    option(parser, "--view NAME", "only this table of each file")
    writes(parser, "--update FILE.md", "update marked tables in place", goes_on=True, nargs="+", default=[])
    writes(parser, "--summary FILE", "of one validation, the data for the page's Planner (JSON)")
    reads(parser, "--earlier FILE", "earlier validations that it also names", nargs="+", default=[])


def results(options: argparse.Namespace) -> int:
    from hsd_core.measure.results import updated, view, views
    from hsd_core.measure.validate.raw_results import read_validation

    if not options.files and not options.update:
        raise ValueError("nothing to do; name files of raw results, or Markdown files with --update")
    if options.summary and (len(options.files) != 1 or read_raw(options.files[0])[0]["kind"] != "validation"):
        raise ValueError("--summary is of one validation; name its file")
    for file in map(Path, options.files):
        for name in [options.view] if options.view else views(file):
            print(f"**{file.stem}: {name}**\n\n{view(file, name)}\n")
    if options.summary:
        write_summary(read_validation(*read_raw(options.files[0])), Path(options.summary), options.earlier)
    for file in map(Path, options.update):
        before, text = file.read_text(encoding="utf-8"), updated(file)
        if text != before:
            file.write_text(text, encoding="utf-8")
        print(f"{file}: {'made again' if text != before else 'as it was'}", file=sys.stderr)
    return 0
