"""Visitors who all press Generate: tokens/s in sum and the wait for the first token, by `--batch`. No test.

    python -m tests.measuring.visitors_at_once [--visitors 60] [--batch 1,8] [--stacks default,auto,target] [--turns 1]

Every visitor is a page of an address of its own, which comes within the first seconds and asks for one run of a quick
prompt. In each turn every batch serves each stack with a server of its own, in an order that rotates, after a run that
opens the model. Printed are, by stack and batch: tokens/s from the first visitor to the last token (median of the
turns, and each), the seconds from a press to the first token (p50, p95 of all turns), runs in a pass of the target, and
how many texts are those of the first batch in the first turn.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections import defaultdict
from functools import cache
from statistics import median
from typing import Any
from urllib.request import urlopen

import numpy as np

from hsd_core.measure.bench.prompts import read_prompts
from hsd_core.pipeline import Pipeline
from tests.app.visiting import Visit
from tests.measuring.serving import served

ARRIVE_S = 5.0


class Page(Visit):
    """A page that has looked up its events already."""

    def _stage(self, event: str) -> tuple[int, int]:
        return known(self._host, event)


@cache
def known(host: str, event: str) -> tuple[int, int]:
    return Visit._stage(Visit(f"http://{host}"), event)


class Visitors:
    """first: seconds to the first token, by visitor. texts: ids. began, ended: of all."""

    def __init__(self, url: str, count: int, asked: dict[str, Any]) -> None:
        self.url, self.asked = url, asked
        self.first, self.texts, self.wrong = dict[int, float](), dict[int, list[int]](), list[str]()
        self.prompts = [prompt.text for prompt in read_prompts("quick")]
        known(url.removeprefix("http://"), "generate")
        visit = Page(url, page=True)
        for _ in visit.generate(**{**asked, "prompt": self.prompts[0], "max_new_tokens": 8}):
            pass
        visit.leave()
        crowd = [threading.Thread(target=self._visit, args=(i,), daemon=True) for i in range(count)]
        self.began = time.monotonic()
        for one in crowd:
            one.start()
        for one in crowd:
            one.join()
        self.ended = time.monotonic()

    def _visit(self, number: int) -> None:
        time.sleep(random.Random(number).uniform(0, ARRIVE_S))
        visit = Page(self.url, page=True, source=f"127.0.1.{number + 1}")
        pressed, ids = time.monotonic(), list[int]()
        try:
            for payload in visit.generate(**self.asked, prompt=self.prompts[number % len(self.prompts)]):
                commits = [record for record in payload["ev"] if record["event"] == "commit"]
                if commits and not ids:
                    self.first[number] = time.monotonic() - pressed
                ids += [token["id"] for commit in commits for token in commit["tokens"]]
                if payload["status"]["mode"] == "error":
                    self.wrong.append(payload["status"]["text"])
        except (OSError, ValueError) as error:
            self.wrong.append(str(error)[:200])
        self.texts[number] = ids
        visit.leave()

    @property
    def rate(self) -> float:
        return sum(map(len, self.texts.values())) / (self.ended - self.began)


def runs_in_a_pass(url: str) -> float:
    """Of the target's passes; 1 where none are joined."""
    found: dict[str, float] = defaultdict(float)
    for line in urlopen(f"{url}/metrics").read().decode().splitlines():
        if line.startswith(("hsd_pass_runs_total", "hsd_passes_total")) and 'level="target"' in line:
            found[line.partition("{")[0]] += float(line.rpartition(" ")[2])
    return found["hsd_pass_runs_total"] / found["hsd_passes_total"] if found else 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=60)
    parser.add_argument("--batch", default="1,8")
    parser.add_argument("--stacks", default="default,auto,target")
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--preset", default="smollm2")
    options = parser.parse_args()
    default = next(one for one in Pipeline.catalogue() if one["name"] == options.preset)["default_stack"]
    settings = [(stack, batch) for stack in options.stacks.split(",") for batch in map(int, options.batch.split(","))]
    met: dict[tuple[str, int], list[tuple[Visitors, float]]] = defaultdict(list)
    for turn in range(options.turns):
        for stack, batch in settings[turn % len(settings) :] + settings[: turn % len(settings)]:
            asked = {"preset": options.preset, "max_new_tokens": options.tokens, "baseline": False}
            asked |= {"stack": default if stack in ("default", "auto") else stack, "replan": stack == "auto"}
            with served(None, "--presets", options.preset, "--batch", str(batch)) as url:
                found = Visitors(url, options.visitors, asked)
                met[stack, batch].append((found, runs_in_a_pass(url)))
            print(f"turn {turn}: {stack} --batch {batch}: {found.rate:.1f} tokens/s {found.wrong[:3]}", flush=True)
    print("\n| stack | batch | tokens/s in sum | first token p50, p95 (s) | runs in a pass | equal texts |")
    print("|---|---|---|---|---|---|")
    for (stack, batch), turns in met.items():
        reference = met[stack, settings[0][1]][0][0].texts
        first = np.quantile([one for found, _ in turns for one in found.first.values()], (0.5, 0.95))
        rates = ", ".join(f"{found.rate:.1f}" for found, _ in turns)
        equal = sum(ids == reference[number] for found, _ in turns for number, ids in found.texts.items())
        asked_for = sum(len(found.texts) for found, _ in turns)
        print(
            f"| {stack} | {batch} | {median(found.rate for found, _ in turns):.1f} ({rates}) "
            f"| {first[0]:.1f}, {first[1]:.1f} | {median(runs for _, runs in turns):.2f} | {equal} of {asked_for} |"
        )


if __name__ == "__main__":
    main()
