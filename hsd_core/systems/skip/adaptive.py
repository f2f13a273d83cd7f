"""Draft & Verify's stop policy: the threshold follows the acceptance."""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.core.policies import Confidence


@dataclass(slots=True)
class Adaptive(Confidence):
    """`Confidence` with a threshold that follows the acceptance; theta is its start.

    Draft&Verify (arXiv 2309.08168, section 3.3). After every block that the level above has verified

        m   <- 1/2 m + 1/2 accepted / drafted
        th' =  th + step if m is below the target, else th - step
        th  <- keep th + (1 - keep) th'

    A block of T tokens was not stopped by the threshold, so acceptance above the target does not lower it then.
    """

    step: float = 0.01
    keep: float = 0.9
    target: float = 0.9
    match: float = 1.0

    @property
    def moving(self) -> float | None:  # type: ignore[override]
        return self.theta

    def on_verified(self, handed_up: int, accepted: int, block: int) -> None:
        self.match = 0.5 * self.match + 0.5 * accepted / handed_up
        if self.match < self.target:
            wanted = self.theta + self.step
        elif handed_up < block:
            wanted = self.theta - self.step
        else:
            return
        self.theta = min(1.0, max(0.0, self.keep * self.theta + (1.0 - self.keep) * wanted))
