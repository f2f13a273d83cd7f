"""`bench`: measures stacks, plain decoding and other programs in turn, on prompts of several kinds."""

from __future__ import annotations

import argparse
import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.cli.options import counts, flag, option, reads, writes
from hsd_core.cli.shared_options import (
    about_of,
    add_load,
    add_preset,
    add_sampling,
    check_sampling,
    command,
    countdown,
    default_of,
    explained,
    loads_of,
    opened,
    preset_from,
    sampled,
)
from hsd_core.grammar.stack_text import parse, stack_lossless
from hsd_core.measure import bench
from hsd_core.measure.bench.prompts import BUILT_IN, DEFAULT, prompts_path, stacks_of_lines
from hsd_core.measure.rawfile import RawFile
from hsd_core.measure.tables import RECKONED, OnClock, rounded
from hsd_core.models.sampling import Sampling
from hsd_core.theory import read_profile
from hsd_core.theory.stack_table import whole
from hsd_core.typed import convert, encode, plain, write_whole

if TYPE_CHECKING:
    from hsd_core.core.clock import EngineClock
    from hsd_core.core.events import Event
    from hsd_core.grammar.preset import Preset
    from hsd_core.pipeline import Pipeline

RUNS, PROFILE, BATCHES = "runs.jsonl", "profile.json", "batches.jsonl"
JOINT = "joint_ms"  # the first record of batches


def add(commands: Any) -> None:
    parser = command(commands, "bench", "measure stacks and plain decoding in turn", act)
    add_preset(parser)
    reads(parser, "--stacks FILE", "one stack per line, `default` is this machine's (default: the preset's examples)")
    reads(
        parser,
        "--prompts FILE",
        "JSON lines or SPEED-Bench's Parquet with prompt or turns, and category, or "
        f"{' or '.join(BUILT_IN)}, which are built in (default own)",
        known=BUILT_IN,
        default="own",
    )
    counts(parser, "--per-category N", "only N prompts of each task")
    writes(
        parser,
        "--out DIR",
        "write results, report.md, profile.json and the raw runs here; an interrupted benchmark goes on",
        folder=True,
    )
    flag(parser, "--no-peers", "leave transformers and llama.cpp out")
    option(parser, "--peers P,...", "only these other programs, such as 'transformers plain,llama.cpp plain'")
    reads(parser, "--gguf FILE", "the target as llama.cpp reads it", type=Path)
    add_load(parser, "instead measure batches of so many requests, of first turns, and where a stack stops paying")
    reads(parser, "--profile FILE", "with --load: predict with this (default: calibrated, else shipped)")
    option(parser, "--sittings DIR,...", "with --load: of other days; which errors are of the day, and which come back")
    counts(parser, "--turns N", "with --load: batches of each stack at each load (default 5)", default=5)
    add_sampling(parser)
    flag(
        parser,
        "--reckoned",
        "also measure stacks with @with=: each pass is timed alone, then scheduled on its lanes; their rows say so",
    )


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure.bench.summary import results, runs_of, write
    from hsd_core.measure.results import view

    check_sampling(options)
    loads = loads_of(options)
    preset, prompts = preset_from(options), bench.read_conversations(options.prompts, options.per_category)
    default = default_of(options)
    asked = _asked(options.stacks, preset, default.stack, options.reckoned, bool(loads))
    stacks = list(dict.fromkeys(asked.values()))
    pipeline = opened(options, OnClock.read(stacks[0]).stack)
    for stack in stacks:  # refuses a stack that cannot be built now, not after an hour
        pipeline.entries(OnClock.read(stack).stack)
    every, prompts = len(prompts), _that_fit(prompts, pipeline, stacks, options)
    if loads:
        return _under_load(options, pipeline, stacks, prompts, loads)
    peers, missing = _peers(options, pipeline)
    about = {
        **about_of(options, "bench", pipeline, prompts_path(options.prompts), **sampled(options)),
        "per_category": options.per_category or BUILT_IN.get(options.prompts),
        "stacks": bench.with_plain(stacks),
        "asked": asked,
        **({"clocks": [RECKONED]} if options.reckoned else {}),
        "missing": missing,
        **({"turns": turns} if (turns := sum(1 + len(one.later) for one in prompts)) > len(prompts) else {}),
        **({"too_long": every - len(prompts)} if every > len(prompts) else {}),
    }

    heat = Sampling(options.temperature, options.top_k, options.top_p)
    read = {bench.plain_of(one) for one in stacks if not stack_lossless(parse(whole(OnClock.read(one).stack)), heat)}

    def runner(name: str, prompt: bench.Said) -> Iterator[Any]:
        price = True if name in read else None
        rows = 2 if bench.plain_of(name) == name else 0  # for the margin where a stack's text differs
        return pipeline.run(OnClock.read(name).stack, prompt, heads=rows, price=price, **sampled(options))

    raw, each = None, len(about["stacks"]) + len(peers)
    if options.out:
        Path(options.out).mkdir(parents=True, exist_ok=True)
        raw = RawFile(Path(options.out) / RUNS, about)
    records = _finished(raw.records if raw else [], each)
    if raw and len(records) < len(raw.records):
        raw.keep(records)
    done = frozenset(int(record["prompt"]) for record in records)
    report = countdown("prompt", len(prompts), len(done))
    with closing(bench.interleaved(runner, stacks, prompts, peers=peers, done=done, answer=pipeline.said)) as runs:
        while batch := [asdict(run) for run in islice(runs, each)]:  # of one prompt
            records += batch
            if raw:
                raw.add(batch)
            report()
    about["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = results(about, records)
    if DEFAULT in asked:
        print(explained(default), file=sys.stderr)
    print(f"{preset.name}, {len(prompts)} prompts, up to {options.max_new_tokens} tokens, {about['machine']}\n")
    print(bench.table(bench.summary(runs_of(records), drawn=bench.sampled(about))))
    if found["categories"]:
        print(f"\n{bench.category_table(found['categories'])}")
    others = [_peer_line(peer) for peer in found["peers"]]
    print(*others, sep="\n")
    if raw:
        tables = (view(raw.path, name) for name in ("stacks", "drafts", *["categories"] * bool(found["categories"])))
        write(raw.path.parent, found, asked, "\n\n".join((*tables, *others)) + "\n")
        print(f"\n{raw.path.with_name('report.md')}")
        if found["categories"]:
            _profile(pipeline, options, found["categories"], len(prompts), raw.path.with_name(PROFILE))
    return 0


def _under_load(
    options: argparse.Namespace, pipeline: Pipeline, stacks: list[str], prompts: list[bench.Prompt], loads: list[int]
) -> int:
    """Measure batches of requests; writes load.json and load.md; an interrupted one goes on from batches.jsonl."""
    from hsd_core.measure import load, load_report
    from hsd_core.measure.calibrate.joint_costs import joint_costs
    from hsd_core.theory.profiles.profile_json import joint_as_dict, joint_from
    from hsd_core.theory.profiles.profile_store import shipped_profile
    from hsd_core.theory.profiles.under_load import JointCosts, with_joint

    def runner(stack: str, prompt: str, *, clock: EngineClock, stop: Callable[[], bool]) -> Iterator[Event]:
        return pipeline.run(stack, prompt, heads=2, clock=clock, stop=stop, **sampled(options))

    heat = options.temperature
    known = read_profile(options.profile) if options.profile else pipeline.profile(heat)
    profile = known or shipped_profile(pipeline.preset.name, pipeline.device, heat)
    everything, turns = bench.with_plain(stacks), options.turns
    about = {
        **about_of(options, "bench", pipeline, prompts_path(options.prompts), **sampled(options)),
        "per_category": options.per_category or BUILT_IN.get(options.prompts),
        "stacks": everything,
        "loads": loads,
        "turns": turns,
    }
    raw = None
    if options.out:
        Path(options.out).mkdir(parents=True, exist_ok=True)
        raw = RawFile(Path(options.out) / BATCHES, about)
    first, *records = raw.records if raw and raw.records else [{}]  # the joint passes, then batches
    if JOINT in first and not options.profile:
        joint: JointCosts = {name: joint_from(name, own) for name, own in first[JOINT].items()}
    else:
        entries = (entry for stack in stacks for entry in pipeline.entries(stack))
        joint = joint_costs(entries, pipeline.encode(prompts[0].text, raw=options.raw), loads, known=known)
        first = {JOINT: {name: joint_as_dict(own) for name, own in joint.items()}}
    count = Counter((record["turn"], record["load"]) for record in records)
    whole = {one: len(everything) * load.batches(loads, one, len(prompts)) for one in loads}
    done = {each for each, batches in count.items() if batches == whole[each[1]]}
    records = [record for record in records if (record["turn"], record["load"]) in done]
    if raw:
        raw.keep([first, *records])
    runs = [convert(record, load.LoadRun) for record in records]
    report = countdown("load", turns * len(loads), len(done))
    texts = [prompt.text for prompt in prompts]
    for batches in load.measure(runner, stacks, texts, loads, turns, done):
        runs += batches
        if raw:
            raw.add([asdict(run) for run in batches])
        report()
    found = {
        "about": raw.about if raw else about,
        **load.summary(runs, profile and with_joint(profile, joint)),
        **first,
    }
    tables = [load_report.table(found)]
    if options.sittings:
        others = [plain(Path(folder, "load.json").read_bytes()) for folder in options.sittings.split(",")]
        found["sittings"] = load_report.by_sitting([*others, found])
        tables.append(load_report.sittings_table(found["sittings"]))
    print(*tables, sep="\n\n")
    if raw:
        kept = {**found, "runs": [asdict(run) for run in runs]}
        write_whole(raw.path.with_name("load.json"), encode(kept))
        write_whole(raw.path.with_name("load.md"), ("\n\n".join(tables) + "\n").encode())
    return 0


def _asked(path: str | None, preset: Preset, default: str, reckoned: bool, by_load: bool) -> dict[str, str]:
    """Line of the stacks file -> stack; without a file, the preset's examples. by_load: or table of stacks."""
    if path:
        return bench.read_stack_lines(path, default, reckoned, by_load)
    examples = [example.stack for example in preset.stacks if not example.replan]
    return stacks_of_lines([DEFAULT, *examples], default, f"preset {preset.name}", reckoned)


def _profile(pipeline: Any, options: argparse.Namespace, rows: Any, prompts: int, path: Path) -> None:
    """Write a profile with what was counted by category, if there is one to write it into."""
    from hsd_core.measure.bench.summary import with_categories
    from hsd_core.theory.profiles.profile_json import write_profile
    from hsd_core.theory.profiles.profile_store import shipped_profile

    heat = Sampling(options.temperature, options.top_k, options.top_p).heat
    known = pipeline.profile(heat) or shipped_profile(pipeline.preset.name, pipeline.device, heat)
    if known is not None:
        texts = f"{prompts} prompts of {prompts_path(options.prompts).name}"
        write_profile(with_categories(known, rows, texts), path)
        print(f"{path}; best block lengths: python -m hsd_core plan --profile {path} --categories")


def _that_fit(
    prompts: list[bench.Prompt], pipeline: Any, stacks: list[str], options: argparse.Namespace
) -> list[bench.Prompt]:
    """The prompts that, with all answers, fit the context of every target; how many do not is told.

    Raises:
        ValueError: none does.
    """
    rooms = [pipeline.room(OnClock.read(stack).stack) for stack in stacks]
    room = min((one for one in rooms if one is not None), default=None)
    if room is None:
        return prompts

    def tokens(prompt: bench.Prompt) -> int:
        texts = (prompt.text, *prompt.later)
        return sum(len(pipeline.encode(text, raw=options.raw)) + options.max_new_tokens for text in texts)

    kept = [prompt for prompt in prompts if tokens(prompt) <= room]
    what = f"{len(prompts) - len(kept)} of {len(prompts)} prompts"
    said = f"{what} are, with their answers, longer than the {room:,} tokens"
    if not kept:
        raise ValueError(f"{said} that the target reads; take shorter ones, or a target with a longer context")
    if len(kept) < len(prompts):
        print(f"{said} that the target reads, and are left out", file=sys.stderr)
    return kept


def _peers(options: argparse.Namespace, pipeline: Any) -> tuple[list[bench.BenchPeer], dict[str, str]]:
    from hsd_core.measure.bench.peers import NAMES, open_peers, wanted_peers

    wanted = wanted_peers(options.peers)
    if options.no_peers or bench.sampled(vars(options)):
        return [], dict.fromkeys(NAMES, "left out" if options.no_peers else "peers are measured only greedily")
    return open_peers(pipeline, options.max_new_tokens, raw=options.raw, gguf=options.gguf, wanted=wanted)


def _peer_line(peer: dict[str, Any]) -> str:
    """The rate of another program, or why it was not run."""
    rate = [] if peer["tokens_per_s"] is None else [f"{rounded(peer['tokens_per_s'])} tokens/s"]
    return f"{peer['name']}: {', '.join([*rate, *filter(None, [peer['why']])])}"


def _finished(records: list[dict[str, Any]], each: int) -> list[dict[str, Any]]:
    """The records of prompts on which everything was run."""
    count = Counter(record["prompt"] for record in records)
    return [record for record in records if count[record["prompt"]] == each]
