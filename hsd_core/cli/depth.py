"""`depth`: studies of a preset's target along a file of texts, each defined by a system in its `study.py`.

Such a module has
    OPTION      the option that selects it, "" for the default study
    add         adds that option and its other options to the parser
    check       refuses options that do not go with it, before anything is loaded
    act         measures and prints
    LENGTHS     whether it uses --lengths
and, if it writes its results, their KIND, TABLES, method and optionally figures for `measure/results.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.cli.options import counts, flag, option, reads, writes
from hsd_core.cli.shared_options import about_of, add_preset, command, countdown, opened, plain_stack, within_context
from hsd_core.grammar.registry import plugins
from hsd_core.models.sampling import Sampling
from hsd_core.trace.prompt_files import PromptText, read_texts
from hsd_core.typed import encode_lines, write_whole

if TYPE_CHECKING:
    from hsd_core.models.lean.decoder import LeanDecoder
    from hsd_core.pipeline import Pipeline

SILENCE = 5.0  # seconds between two lines of progress


@dataclass(frozen=True, slots=True)
class Subject:
    """A target and the texts that it is studied along."""

    options: argparse.Namespace
    pipeline: Pipeline
    stack: str  # the target alone
    texts: list[PromptText]

    @classmethod
    def of(cls, options: argparse.Namespace) -> Subject:
        """The subject of the options of `add_preset` and `add_texts`."""
        stack = plain_stack(options)
        pipeline = opened(options, stack)
        texts = read_texts(options.prompts, lambda prompt: pipeline.encode(prompt, raw=options.raw))[: options.limit]
        return cls(options, pipeline, stack, within_context(texts, pipeline.lean_target(stack).max_positions))

    @property
    def decoder(self) -> LeanDecoder:
        return self.pipeline.lean_target(self.stack)

    def running(self, what: Any, lacking: str) -> Any:
        """The decoder of the target. what: the protocol that it must satisfy.

        Raises:
            ValueError: it does not; `lacking` says what it cannot do.
        """
        decoder = getattr(self.pipeline.entries(self.stack)[-1].level, "decoder", None)
        if not isinstance(decoder, what):
            raise ValueError(f"the target runs through transformers, {lacking}")
        return decoder

    def progress(self, what: str = "text", each: int = 1) -> Callable[..., None]:
        """A function to call after each text."""
        return countdown(what, len(self.texts) * each, silence=SILENCE)

    def written(self) -> Iterator[tuple[PromptText, list[int]]]:
        """Every text with the output that is read after its prompt: the file's, or one generated greedily; cut where a
        loop starts, unless loops are kept.

        Raises:
            ValueError: there is nothing to read.
        """
        most, room, nothing = self.options.max_new_tokens, self.decoder.max_positions, True
        for text, output in self._outputs():
            kept = output if getattr(self.options, "loops", "cut") == "keep" else [*text.before_loop(output)]
            if kept := kept[: min(most, room - len(text.prompt_ids))]:
                nothing = False
                yield text, kept
        if nothing:
            raise ValueError(f"{self.options.prompts}: no text in it has a token to read")

    def _outputs(self) -> Iterator[tuple[PromptText, list[int]]]:
        from hsd_core.measure.texts.selfgen import Job, generate

        yield from ((text, list(text.output_ids)) for text in self.texts if text.output_ids is not None)
        jobs = [Job(text, 0) for text in self.texts if text.output_ids is None]
        most, batch = self.options.max_new_tokens, self.options.batch
        written = generate(self.decoder, jobs, Sampling(), ends=self.pipeline.ends, max_new_tokens=most, batch=batch)
        yield from ((job.text, output) for job, output in written)

    def title(self, *what: str) -> str:
        """The title line of a table."""
        return f"{', '.join((self.pipeline.preset.name, *what, self.pipeline.about['machine']))}\n"

    def about(self, kind: str, **more: Any) -> dict[str, Any]:
        """The first line of a file of raw results."""
        most = self.options.max_new_tokens
        return about_of(self.options, kind, self.pipeline, self.options.prompts, max_new_tokens=most, **more)

    def keep(self, about: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> None:
        """Writes --out, if it is given."""
        if self.options.out:
            write_whole(Path(self.options.out), encode_lines((about, *records)))


def add_texts(parser: argparse.ArgumentParser, tokens: int) -> None:
    """Adds the options for which texts are read, and how much of each. tokens: the default."""
    reads(
        parser,
        "--prompts FILE",
        "JSON lines with prompt, turns or prompt_ids; output_ids are read where given, else written greedily",
        required=True,
    )
    counts(parser, "--max-new-tokens N", f"tokens read of each text (default {tokens})", default=tokens)
    counts(parser, "--limit N", "only the first N prompts")
    counts(parser, "--batch B", "texts generated in one batch (default 8)", default=8)
    flag(parser, "--raw", "no chat template: the prompt is the text itself")


def add(commands: Any) -> None:
    parser: Any = command(commands, "depth", "measure at which depth the target knows the next token", act)
    add_preset(parser)
    add_texts(parser, 128)
    option(parser, "--loops", "what follows a loop's start in a text", choices=("cut", "keep"), default="cut")
    counts(
        parser, "--lengths N", "lengths of the text before the part that is read, for studies that vary it", nargs="+"
    )
    writes(parser, "--out FILE", "write the results as JSON lines; a study continues an existing file", goes_on=True)

    def complete() -> None:
        for study in studies().values():
            study.add(parser)

    parser.complete = complete


def studies() -> dict[str, Any]:
    """The studies of systems by the options that select them; imports torch."""
    return {study.OPTION: study for study in plugins("study")}


def act(options: argparse.Namespace) -> int:
    known = studies()
    asked = [name for name in known if name and getattr(options, name) is not None]
    if len(asked) > 1:
        raise ValueError(f"--{asked[0]} and --{asked[1]} are different studies; give one of them")
    if not asked and "" not in known:
        raise ValueError(f"name a study: --{', --'.join(known)}")
    study = known[asked[0] if asked else ""]
    if options.lengths and not getattr(study, "LENGTHS", False):
        some = [f"--{name}" for name, one in known.items() if getattr(one, "LENGTHS", False)]
        raise ValueError(f"--lengths says how far into a text is read; add {' or '.join(some)}")
    if hasattr(study, "check"):
        study.check(options)
    study.act(Subject.of(options))
    return 0
