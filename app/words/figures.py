"""The figures below the text: titles, descriptions, axes, columns of their tables."""

from __future__ import annotations

NOT_DRAWN = "The figures are not drawn yet"
ACCEPTANCE_COLUMNS = ["verifier", "position", "judged", "accepted", "share"]
# Plotly fills in what stands in %{}.
ACCEPTANCE_HOVER = "position %{x}: %{y:.0%} (%{customdata[0]} of %{customdata[1]})<extra></extra>"
TIME_COLUMNS = ["level", "prefill, ms", "drafting, ms", "verifying, ms", "lost, ms"]
TOKENS_COLUMNS = ["run", "prefill, ms", "tokens", "end, ms", "tokens/s"]
TOKENS_HOVER = "%{x:.2f} s: %{y} tokens<extra></extra>"
PREFILL = "prefill"
TOKEN = "token"
KNOWN_FROM = "known from layer"
NONE_KNOWN = "The last layer would have written none of these tokens."
CLOCKS = {  # before what a figure's note says, by whose clock the run's times are of
    "simulated": "Simulated: no model ran. ",
    "reckoned": "Reckoned: each pass was timed alone, then laid on the clock of its lane. ",
    "real": "Real: two lanes at work at the same time. ",
}
DEPTHS = "At which layer did the model know?"
BLOCK_POSITION = "position in the block"
ACCEPTED_JUDGED = "accepted / judged"
ACCEPTANCE = "Acceptance by position in the block"
ACCEPTANCE_TEXT = (
    "How often each verifier kept the token at this position, of those it judged (a token after a rejected one is "
    "not judged)."
)
BETWEEN = "between levels"
KEPT_TIME = "for tokens that were committed"
LOST_TIME = "for tokens that were not"
TIME_AXIS = "ms of decoding (prefill left out)"
TIME = "Where the time went"
TIME_TEXT = (
    "Engine time of each level. Time counts as lost in proportion to the rows computed for tokens that were never "
    "committed."
)
THIS_STACK = "this stack"
CLOCK_AXIS = "s on the engine's clock"
COMMITTED_AXIS = "tokens committed"
NO_PLAIN = " Plain decoding was not measured in this run."
TOKENS = "Tokens against time"


def time_hover(name: str) -> str:
    return f"%{{y}}: %{{x:.1f}} ms {name}<extra></extra>"


def between_took(ms: float) -> str:
    return f"{ms:.1f} (sampling, storing)"


def plain(simulated: bool) -> str:
    return f"plain decoding, {'simulated' if simulated else 'measured'}"


def tokens_text(no_plain: str, plans: str) -> str:
    auto = f" Auto (dotted lines): {plans}." if plans else ""
    return (
        "Committed tokens after each round, beside plain decoding of the same target on the same prompt and "
        f"seed.{no_plain}{auto}"
    )


def known_by(half: int, most: int) -> str:
    return f"Half of the tokens were settled by layer {half}, nine in ten by layer {most}."


def layer(at: int) -> str:
    return f"layer {at}"


def draft_at(name: str, at: int) -> str:
    return f"{name}, at {at}"


def first_events(most: int, every: int) -> str:
    return f"Showing the first {most:,} of {every:,} events. "


def auto(times: int, origin: str) -> str:
    return f"Auto: the levels and their T changed {times} times during the run; {origin}. "


def depths_text(summary: str) -> str:
    return (
        "Columns are the tokens that were written, rows the layers, read through the model's own norm and head or "
        "a trained draft. Colour: probability of the token that was written; a dot: it is the most likely one there; "
        f"a frame: right from this layer on. {summary}"
    )


def by(level: str) -> str:
    return f"by {level}"


def plan(round: int, stack: str) -> str:
    return f"from round {round} on: {stack}"


def at_layer(name: str, layer: int) -> str:
    return f"{name} at {layer}"
