"""A preset, opened: prompts in, events out. What the page, the command line and the benchmark use.

Importing this module does not import torch, and the catalogue needs no weights and no network; opening does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.core import events as trace
from hsd_core.core.notes import noted
from hsd_core.grammar import after_run, kind_of, reads_after_run
from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_text import LevelSpec, StackError, parse, plain_target
from hsd_core.models import machine
from hsd_core.models.sampling import Sampling
from hsd_core.models.weights import ensure
from hsd_core.stacks.presets import PRESETS
from hsd_core.stacks.targets import missing_weights, preset_for, preset_option, with_config, with_cross_draft
from hsd_core.theory import ProfileError
from hsd_core.theory.profiles.profile_store import (
    GIVEN,
    MEASURED,
    SHIPPED,
    cached_profile,
    header_profile,
    origin,
    shipped_profile,
)
from hsd_core.theory.search.default_stack import PLANNED, DefaultStack, default_for_machine, with_default
from hsd_core.theory.stack_table import LoadReplanner, StackTable, whole
from hsd_core.trace import metrics
from hsd_core.trace.comparison import followed
from hsd_core.trace.pieces import Pieces, record

if TYPE_CHECKING:
    from hsd_core.core.clock import EngineClock
    from hsd_core.core.level import StackEntry
    from hsd_core.core.run_plans import Replanner
    from hsd_core.levels.draft_run import TrainedDraft
    from hsd_core.levels.memory import Memory
    from hsd_core.levels.shared import Written
    from hsd_core.levels.trunk import Layered
    from hsd_core.models.compiled.node_profile import NodeProfile as NodeProfile
    from hsd_core.models.lean.decoder import LeanDecoder
    from hsd_core.stacks.builder import Builder
    from hsd_core.theory import Profile
    from hsd_core.theory.replan import Pace

Progress = Callable[[str, float, float], None]
Reading = Callable[[str, int, int], None]  # a level has read so many tokens of the prompt, and of how many


class Pipeline:
    """One preset's tokenizer and levels. Levels are built when a stack first needs them, and kept, read-only."""

    def __init__(self, preset: Preset, builder: Builder, prompt_tokens: int | None = None) -> None:
        self.preset, self._builder, self._prompt_tokens = preset, builder, prompt_tokens
        self.device, self.dtype = builder.device, builder.dtype
        self.about: dict[str, Any] = {
            "preset": preset.name,
            "machine": machine.describe(builder.device),
            "versions": dict(machine.versions()),
        }

    @property
    def default(self) -> DefaultStack:
        """The stack that runs where none is named, as planned for this machine by what is known of it now."""
        return default_for_machine(self.preset, self.device, self.dtype)

    @property
    def default_stack(self) -> str:
        return self.default.stack

    @staticmethod
    def catalogue() -> list[dict[str, Any]]:
        """Every preset and its levels as plain JSON types, each usable or with the reason why not. Instant."""
        from hsd_core.stacks.presets import catalogue

        known = ((entry, PRESETS.get(entry["name"])) for entry in catalogue())
        return [entry if preset is None else with_default(entry, preset) for entry, preset in known]

    missing_weights = staticmethod(missing_weights)
    fetch = staticmethod(ensure)

    @classmethod
    def open(
        cls,
        preset: str | Preset,
        *,
        stack: str | None = None,
        device: str | None = None,
        dtype: str | None = None,
        progress: Progress | None = None,
        models: Path | None = None,
        profile: NodeProfile | None = None,
        kind: str = "auto",
        prompt_tokens: int | None = None,
    ) -> Pipeline:
        """Fetch and convert the preset's weights where needed; load a stack's levels (the default's) and warm them up.

        Args:
            preset: its name, or what `stacks.targets` makes of any target; a stack whose target has an id is over that
                one. models: a folder whose models may be named as `model@id=NAME`.
            profile: writes down what every node of compiled decoders takes. kind: of decoder, see `load_decoder`.
            prompt_tokens: the longest prompt that is read; None for as long as the model's context.
        Raises:
            UnknownPreset, StackError: bad names, or a target that nothing can be run with. WeightsError: weights
                are not available; the message says what helps.
        """
        stack = stack and whole(stack)
        asked = preset_for(preset, stack, models)  # a typing error is met before anything is fetched
        from hsd_core.stacks.builder import Builder

        tell = progress or (lambda *_: None)
        if not asked.toy and not asked.layers:
            ensure(asked.target, tell)
            asked = with_config(asked)
        if asked.draft and asked.name not in PRESETS and (stack is None or _has_own_model(stack)):
            ensure(asked.draft, tell)
            asked = with_cross_draft(asked)
        if asked.refused:
            raise StackError(f"{asked.title} cannot be a target: {asked.refused}")
        pipeline = cls(asked, Builder(asked, device, dtype, tell, models, profile, kind), prompt_tokens)
        pipeline.entries(stack or pipeline.default_stack)
        return pipeline

    @property
    def tokenizer(self) -> Pieces:
        return self._builder.tokenizer

    @property
    def ends(self) -> frozenset[int]:
        """The ids that end a text."""
        return self._builder.ends

    def lean_target(self, spec: str = "target") -> LeanDecoder:
        """The decoder of a stack's target through torch, if it is one that `lean` runs.

        Raises:
            StackError: it cannot be built, or is not a lean decoder; the message says what it is.
        """
        from hsd_core.levels.trunk import Layered
        from hsd_core.models.lean.decoder import LeanDecoder

        level = self._builder.entries(parse(spec)[-1:])[0].level
        decoder = getattr(level, "decoder", None)
        if isinstance(decoder, Layered) and not isinstance(decoder, LeanDecoder):
            decoder = self._builder.lean(decoder)
        if not isinstance(decoder, LeanDecoder):
            what = "runs through transformers" if decoder else "is not a transformer"
            raise StackError(f'"{level.about.label}" {what}; this needs a model that the lean decoder runs')
        return decoder

    def target_layers(self) -> Layered:
        """The target's decoder, where it runs layer by layer.

        Raises:
            StackError: it does not, or cannot be built.
        """
        return self._builder.layered(LevelSpec("target", None, {"dtype": self.dtype, "device": self.device}))

    def trained(self, spec: str = "target") -> list[TrainedDraft]:
        """The trained drafts that come with the preset and read a stack's target."""
        from hsd_core.levels.opened_drafts import trained

        return trained(self._builder, self.lean_target(spec))

    def depths(
        self,
        prompt_ids: Sequence[int],
        output_ids: Sequence[int],
        spec: str = "target",
        *,
        stop: Callable[[], bool] = lambda: False,
    ) -> trace.Report | None:
        """At which depth a stack's target knew each token of an output: one pass over the whole text.

        None when `stop`, asked between layers, turned true.

        Raises:
            StackError: the target is not a lean decoder. ValueError: the prompt or the output is empty.
        """
        from hsd_core.core.driver import Stopped

        ids, read = [*prompt_ids, *output_ids], after_run("depths")
        try:
            found = read(self.lean_target(spec), ids, len(prompt_ids), self.trained(spec), stop=stop)
        except Stopped:
            return None
        return trace.Report(len(parse(spec)) - 1, None, None, noted(found.note()))

    def price(
        self, events: Sequence[trace.Event], plain: Sequence[int] = (), *, stop: Callable[[], bool] = lambda: False
    ) -> trace.Report | None:
        """The price of a run's text (`systems.price`): one pass of its target over it, by itself.

        None when `stop` turned true.

        Raises:
            StackError: nothing here reads it.
        """
        from hsd_core.core.driver import Stopped

        *below, last = parse(metrics.header_of(events).stack)
        target, read = self._builder.entries([plain_target(last)])[0], after_run("price")
        try:
            return trace.Report(len(below), None, None, noted(read(target, events, plain, stop=stop)))
        except Stopped:
            return None

    def entries(self, stack: str) -> list[StackEntry]:
        """The stack's levels, built.

        Raises:
            StackError: it cannot be read or built; the message says which level and why.
        """
        return self._builder.entries(parse(whole(stack)))

    def turn(self, start: str, system: str | None) -> tuple[list[int], list[int]]:
        """A user's turn that begins with `start` and is not over, and what closes it and opens the answer."""
        return self._builder.tokenizer.turn(start, system)

    def profile(self, temperature: float = 0.0) -> Profile | None:
        """What was measured of the preset's levels on this machine (the `calibrate` command), if it was."""
        return cached_profile(self.preset, self.device, self.dtype, temperature)

    def memory(self, stack: str, tokens: int, longest: int | None = None) -> Memory:
        """What a run of a stack takes over a text of so many tokens, prompt included, cut to the model's context.

        Args:
            longest: the largest T of a plan, where the run is planned again between rounds.
        Raises:
            StackError: see `entries`.
        """
        from hsd_core.levels.memory import of_entries

        return of_entries(self.entries(stack), tokens, longest)

    def encode(self, prompt: str | Sequence[str], *, raw: bool) -> list[int]:
        """Token ids of a prompt, or of what user and model said in turn, in the model's chat template unless `raw`.

        Raises:
            ValueError: they are more than this pipeline reads, or one of them is none of the model's.
        """
        said = (prompt,) if isinstance(prompt, str) else prompt
        codec = self._builder.tokenizer
        ids = codec.encode("\n\n".join(said)) if raw else codec.chat(*said)
        if ids and max(ids) >= self._builder.ids:
            token = self.tokenizer.piece(max(ids)).decode(errors="replace")
            raise ValueError(f"the prompt has the token {token!r}, which the model has no row for; leave it out")
        most = self._prompt_tokens
        if most is not None and len(ids) > most:
            raise ValueError(f"the prompt has {len(ids):,} tokens; at most {most:,} are read here, so shorten it")
        return ids

    def said(self, ids: Sequence[int]) -> str:
        """The text of ids that the model wrote, without special tokens."""
        codec = self.tokenizer
        return b"".join(codec.piece(id_) for id_ in ids if not codec.is_special(id_)).decode(errors="replace")

    def room(self, stack: str) -> int | None:
        """The tokens that the context of a stack's target has, prompt included; None for any number.

        Raises:
            StackError: see `entries`.
        """
        return self.entries(stack)[-1].level.max_positions

    def run(
        self,
        stack: str,
        prompt: str | Sequence[str],
        *,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
        max_new_tokens: int = 128,
        raw: bool = False,
        baseline: bool = False,
        depths: bool = False,
        price: bool | None = None,
        heads: int = 8,
        stop: Callable[[], bool] | None = None,
        title: str = "",
        replan: bool | Pace = False,
        profile: Profile | None = None,
        reading: Reading | None = None,
        clock: EngineClock | None = None,
        earlier: Sequence[Written] | None = None,
    ) -> Generator[trace.Event, None, None]:
        """Decode a prompt, or what follows a conversation, with a stack. Close the generator to end the run early.

        Args:
            stack: or a `StackTable`: in a batch every round follows the row of the runs that are decoded then.
                baseline: then decode the prompt plainly too and yield what that took. depths: at the end, read the
                text after every layer of the target. price: then have the target read the text by itself (`price`); by
                default where the stack is not exact. heads: likeliest tokens of each row that go into the trace (0:
                none). stop: asked before every forward. replan: the stack lists candidates, and which of them run, with
                which T, is planned again while generating, from `profile` (default: this machine's, else the shipped
                one; the header says which), at this pace (True: the default one), over the costs of a batch where the
                run is in one. reading: told which level has read how many tokens of the prompt, and of how many. clock:
                of the events' times, such as a batch's. earlier: prompts and outputs for levels that look in earlier
                runs; None: this program's own.
        Raises:
            ValueError: bad input, at once; the message names the cure.
        """
        from hsd_core.core.run import RunSettings, Watcher, run
        from hsd_core.levels.memory import refuse_too_large
        from hsd_core.models.joint_pass import runs_at_once
        from hsd_core.stacks.prepared import PreparedStack
        from hsd_core.theory.replan import Pace, ProfileReplanner
        from hsd_core.theory.search.by_load import with_joint_passes

        table = StackTable.read(stack)
        if table is not None and replan:
            raise ValueError(
                "a table by load is a plan already; give it without replan, or the stack of all its levels"
            )
        stack = stack if table is None else table.stack
        entries = self.entries(stack)
        sampling = Sampling(temperature, top_k, top_p)
        ids = self.encode(prompt, raw=raw)
        source = MEASURED if profile is None else GIVEN
        profile = profile or self.profile(sampling.heat)
        about = {**self.about, "recorded": date.today().isoformat(), "title": title}
        if profile is None and replan:
            profile, source = self._needed_profile(sampling.heat), SHIPPED
        if profile is not None:
            about["profile"] = header_profile(profile, source)
        if (default := self.default).promise is not None and stack == default.stack and not replan:
            known = about.get("profile") or {"about": dict(default.about)}
            about["profile"] = {**known, "about": {**known["about"], PLANNED: default.summary}}
        replanner: Replanner | None = None if table is None else LoadReplanner(table, runs_at_once)
        if replan and profile is not None:
            pace = replan if isinstance(replan, Pace) else None
            specs = [entry.spec for entry in entries]
            profile = profile if clock is None else with_joint_passes(profile)[0]
            replanner = planner = ProfileReplanner(profile, specs, pace=pace, load=runs_at_once)
            about["profile"] = {**planner.profile.as_dict(), "about": origin(profile, source)}
        longest = None if replanner is None else replanner.longest
        refuse_too_large(entries, len(ids) + max_new_tokens, longest, machine.free_bytes(self.device))
        stop, timed = stop or (lambda: False), {} if clock is None else {"clock": clock}

        def decode(what: list[StackEntry], rows: int, by: Replanner | None = None) -> Iterator[trace.Event]:
            settings = RunSettings(
                sampling=sampling,
                seed=seed,
                max_new_tokens=max_new_tokens,
                ends=self._builder.ends,
                heads=rows,
                replan=by,
            )
            told = (lambda level, *how_far: reading(what[level].spec.name, *how_far)) if reading else (lambda *_: None)
            stack = PreparedStack(what, about, earlier=earlier)
            return run(stack, ids, settings, Watcher(stop=stop, reading=told, **timed))

        # Plain decoding keeps two likeliest tokens a row: enough for the margin at a divergence.
        target = [plain_target(entries[-1].spec)]
        other = len(entries) > 1 or target != [entries[-1].spec]
        plain = (lambda: decode(self._builder.entries(target), 2)) if baseline and other else None
        if depths:
            self.lean_target(stack)  # one that cannot be read is refused now
        read = (lambda output: self.depths(ids, output, stack, stop=stop)) if depths else None
        decoding = decode(entries, heads, replanner)
        priced = partial(self.price, stop=stop)
        asked = False if price is None and not reads_after_run("price") else price
        return record(followed(decoding, plain, read, priced, asked), self.tokenizer)

    def _needed_profile(self, temperature: float) -> Profile:
        """A profile to plan with where none was measured here: the one that comes with the package.

        Raises:
            ProfileError: there is none for this preset, device and kind of sampling.
        """
        found = shipped_profile(self.preset.name, self.device, temperature)
        if found is None:
            raise ProfileError(
                f"re-planning needs a profile of {self.preset.name} at temperature {temperature:g} on this machine; "
                f"measure one: python -m hsd_core calibrate {preset_option(self.preset)} "
                f"--temperature {temperature:g} --out profile.json"
            )
        return found


def _has_own_model(stack: str) -> bool:
    """Whether a level of a stack has a whole model of its own, beside the target."""
    return any((own := kind_of(spec).shares.own) and own.tokenizer != "none" for spec in parse(stack))
