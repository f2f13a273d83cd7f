"""`calibration` and `plan`: what a pass costs here, and the best stack by it; `diagnose`: another engine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import gradio as gr

from app.programs.runs import Answer, Endpoint, refused
from app.serve.line.turns import visitor
from app.tabs.planner import words as says
from app.tabs.planner.planning_turns import PlanTurns
from app.tabs.planner.price import parse, profile_for
from app.tabs.planner.profiles.engine_outputs import outputs
from app.tabs.planner.profiles.plan_request import MAX_BODY, Look, PlannerError
from app.tabs.planner.worker import Worker
from hsd_core.stacks.targets import preset_option
from hsd_core.theory.profiles.profile_store import origin


class Planning:
    """
    Args:
        profiles: folder of the profiles that are shipped.
        target: of a preset's name, dtype: as `price.parse` wants them.
    """

    def __init__(self, profiles: Path, target: Callable[[str], str], dtype: str | None = None) -> None:
        self._profiles, self._target, self._dtype = profiles, target, dtype
        self._turns, self._worker = PlanTurns(), Worker(profiles)  # its process starts with the first question

    def endpoints(self) -> list[Endpoint]:
        """`calibration`, `plan` and `diagnose`."""

        async def calibration(
            preset: str = "smollm2", device: str = "", temperature: float = 0.0, request: gr.Request | None = None
        ) -> Answer:
            """The profile that a run here plans with: what a pass of each level costs, and who accepts whose tokens.

            Args:
                preset: which weights, e.g. "smollm2".
                device: "cpu" or "cuda"; empty for the one that runs take here.
                temperature: 0 for greedy runs; greedy and sampled profiles never stand for another.
            Returns:
                source ("measured" on this machine or "shipped" from another), about (machine, day), profile (costs in
                ms, acceptances), and how to measure one here.
            """
            return await self._calibration(preset, device, temperature)

        async def plan(
            preset: str = "smollm2",
            temperature: float = 0.0,
            max_block: int = 16,
            rejections: float = 1.0,
            profile: dict | None = None,  # type: ignore[type-arg]
            request: gr.Request | None = None,
        ) -> Answer:
            """The stack that theory expects to be fastest, and what each further level would bring.

            Args:
                preset: whose profile to plan in, as `calibration` gives it.
                temperature: 0 for greedy runs.
                max_block: the longest block that a level may draft, 1 to 32.
                rejections: every 1 - acceptance is multiplied by it, 0 to 4.
                profile: costs and acceptances of your own, in place of the preset's.
            Returns:
                headline and why in words; best, by_depth and others: levels, blocks, stack, ms (a token), speedup (over
                plain decoding), tokens (a pass of the target); plain_ms, and the profile's source and about.
            """
            found = {"source": "given", "about": {}, "profile": profile}
            if profile is None:
                found = await self._calibration(preset, "", temperature)
            question = json.dumps(
                {"profile": found["profile"], "max_block": max_block, "rejections": rejections}, sort_keys=True
            )
            own = request.request if request is not None else None  # Gradio's own gives JSON alone
            who = visitor(own) if own is not None else ""
            try:
                if len(question) > MAX_BODY:
                    raise PlannerError(says.profile_too_large(MAX_BODY // 1000))
                look = Look(figures=frozenset())
                answer = json.loads(await self._turns.work(who, lambda: self._worker.work(question, look)))
            except PlannerError as error:
                raise refused(error) from error
            del answer["figures"]
            return {**answer, "source": found["source"], "about": found["about"]}

        async def diagnose(
            output: str = "", second: str = "", plain_ms: float = 0.0, request: gr.Request | None = None
        ) -> Answer:
            """Why speculative decoding in vLLM, llama.cpp, SGLang or transformers is slow, and what to change.

            Args:
                output: what it printed: /metrics, a reply in JSON with its metrics, or log lines.
                second: more of the same engine: the later scrape of /metrics, or a run without speculation.
                plain_ms: milliseconds of a token without speculation; 0 if not known.
            Returns:
                verdict, findings and advice in words; tokens_per_pass, acceptance_by_position, draft_ms_per_token,
                pass_ms, ms_per_token, pays_if_plain_above_ms, best (k, speed_up), curve by draft length, missing.
            """
            texts = [{"name": "", "text": text} for text in (output, second) if text]
            own = request.request if request is not None else None
            who = visitor(own) if own is not None else ""
            try:
                asked = outputs({"texts": texts, "plain_ms": plain_ms or None})
                return dict(json.loads(await self._turns.work(who, lambda: self._worker.doctor(asked))))
            except PlannerError as error:
                raise refused(error) from error

        return [calibration, plan, diagnose]

    async def _calibration(self, preset: str, device: str, temperature: float) -> Answer:
        asked = {"preset": preset, "device": device, "temperature": temperature, "stacks": ["target"]}
        try:
            priced = parse(asked, self._target, self._dtype)
            found = await asyncio.to_thread(profile_for, priced, self._profiles)
            if found is None:
                raise PlannerError(says.measures_one(says.no_profile(preset, preset_option(preset))))
        except PlannerError as error:
            raise refused(error) from error
        profile, source = found
        how = f"python -m hsd_core calibrate {preset_option(preset)}"
        return {"source": source, "about": origin(profile, source), "profile": profile.as_dict(), "how": how}
