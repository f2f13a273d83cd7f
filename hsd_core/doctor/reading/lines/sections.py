"""What a part of a pasted text is about: its heading, and whether that says with or without speculation."""

from __future__ import annotations

import re

LONGEST = 90  # characters of a heading
# what may stand in front of a heading or of figures on one line
_PLAIN = re.compile(
    r"\b(?:without|w/o|baseline|base|vanilla|plain|no (?:spec|draft|mtp|eagle)\w*|normal|none|off|disabled|non-spec\w*"
    r"|autoregressive|-sd)\b",
    re.IGNORECASE,
)
_DRAFTED = re.compile(
    r"^\W{0,4}with\W{0,4}$|\b(?:spec|speculat\w+|draft\w*|mtp|eagle\w*|medusa|ngram\w*|n-gram|lookup|dflash\w*|on|enabled|\+sd)\b"
    r"|\bk ?= ?\d",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"\W{0,4}(?:\S{0,60}llama-\w|vllm (?:serve|bench)|python3? -m (?:sglang|vllm|mlx)|mlx_lm)", re.I)
# how a line of a log begins, and headings that are not of a setting
_LOGGED = re.compile(r"\s*(?:\d|\[|\(|INFO|WARN|ERROR|DEBUG|slot |srv |time=|I |W |main:|common_|llama_)")
_GENERAL = re.compile(
    r"\b(?:logs?|outputs?|relevant|results?|questions?|prompts?|requests?|responses?|stats|statistics|metrics|here|this"
    r"|environment|version|benchmark|details|summary|overview|decoding|time|latency|throughput|info\w*|params|usage"
    r"|acceptance)\b",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"(?:num_spec(?:ulative)?_tokens|num-spec(?:ulative)?-tokens|spec-draft-n-max|draft-max|speculative-num-steps"
    r"|draft-n-max|num_draft_tokens|num-draft-tokens|max_draft_len|n_max|\bk)\W{1,4}(\d{1,3})\b"
)


def heading(line: str) -> str | None:
    """The heading that a line is, without its marks; None where it is none, as a log's own lines are none."""
    if len(line) > 4 * LONGEST or _LOGGED.match(line):
        return None
    bare = line.strip().strip("#*_=-`> ").strip()
    if not bare or len(bare) > LONGEST or "|" in bare or bare.lower() == "speculative decoding":
        return None  # the last is a part of a benchmark's report
    if _COMMAND.match(line):
        return bare
    marked = line.lstrip().startswith(("#", "**", "==", "--- ")) or bare.endswith(":")
    about = is_plain(bare) or is_drafted(bare)
    if about and (marked or (len(bare) < 40 and not bare.endswith((".", "?")))):
        return bare.rstrip(":").strip()
    if marked and len(bare.split()) <= 6 and any(sign.isalpha() for sign in bare) and not _GENERAL.search(bare):
        return bare.rstrip(":").strip()
    return None


def is_plain(text: str) -> bool:
    """Whether a heading says that nothing was drafted."""
    return _PLAIN.search(text) is not None


def is_command(text: str) -> bool:
    """Whether a heading is the command that was run."""
    return _COMMAND.match(text) is not None


def is_drafted(text: str) -> bool:
    return not is_plain(text) and _DRAFTED.search(text) is not None


def length_in(text: str) -> int | None:
    """The draft length that a command or a configuration sets; None where none does, or several differ."""
    found = {int(one) for one in _LENGTH.findall(text)}
    return found.pop() if len(found) == 1 else None
