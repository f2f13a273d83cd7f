"""What the lines around the figures say: whether speculation was on, which engine ran, and the settings of its command
or configuration.
"""

from __future__ import annotations

import re

from hsd_core.doctor.engines import engine_of

LONGEST = 90  # characters of a heading
# words of a heading, or before the figures of a line
_PLAIN = re.compile(
    r"\b(?:without|w/o|baseline|base|vanilla|plain|no (?:spec|draft|mtp|eagle)\w*|normal|none|off|disabled|non-spec\w*"
    r"|autoregressive|alone|original|ohne|sans|sin|senza|zonder|без)\b|(?<=\w)-sd\b|不用|不开|没开|未开|关闭",
    re.IGNORECASE,
)
_DRAFTED = re.compile(
    r"^\W{0,4}with\W{0,4}$|\b(?:spec|speculat\w+|draft\w*|assist\w*|mtp|eagle\w*|medusa|ngram\w*|n-gram|lookup|dflash\w*|enabled|\+sd)\b"
    r"|\bk ?= ?\d|\bon\W*$",
    re.IGNORECASE,
)
_ON = re.compile(
    r"--spec|--(?:model-)?draft|--assistant|--mtp|(?<!\S)-md\b|speculative_config|num_spec|llama-(?:spec|lookup)"
)
_OFF = re.compile(r"--spec-type[ =]none|--no-(?:spec|draft)")
_COMMAND = re.compile(
    r"\W{0,4}(?:(?:PS )?\S{0,60}llama-\w|vllm (?:serve|bench)|python3? -m (?:sglang|vllm|mlx)|mlx_lm)", re.I
)
_KEPT = ("-md", "--draft", "--output-len")  # options that a heading keeps
_PROGRAMS = ("llama-", "vllm ", "python", "mlx")
# beginnings of log lines, and headings that name no setting
_LOGGED = re.compile(
    r"\s*(?:\d|\[|\(|INFO|WARN|ERROR|DEBUG|slot |srv |time=|[IW] (?:slot|srv|statistics|[a-z_]+:)|main:|common_|llama_)"
)
_SPEED = re.compile(r"\d ?(?:t|toks?|tokens?)/s\b", re.IGNORECASE)
_GENERAL = re.compile(
    r"\b(?:logs?|outputs?|relevant|results?|questions?|prompts?|requests?|responses?|stats|statistics|metrics|here|this"
    r"|environment|version|benchmark|details|summary|overview|decoding|time|latency|throughput|info\w*|params|usage"
    r"|acceptance)\b",
    re.IGNORECASE,
)


def heading(line: str) -> str | None:
    """The line as a heading, without its marks; None if it is not one, such as a line of a log."""
    if any(word in line for word in _PROGRAMS) and len(line) < 4_000 and _COMMAND.match(line):
        return _command(line)
    bare = line.strip().strip("#*_=-`> ").strip()
    named = len(bare) < 20 and bare.endswith(":")  # "7b:" is a name
    if len(line) > 4 * LONGEST or (_LOGGED.match(line) and not named):
        return None
    if not bare or len(bare) > LONGEST or "|" in bare or _SPEED.search(bare) or bare.lower() == "speculative decoding":
        return None  # the last one is a section of a benchmark's report
    marked = line.lstrip().startswith(("#", "**", "==", "--- ")) or bare.endswith(":")
    short = len(bare) < 40 and not bare.endswith((".", "?"))
    if (marked or short) and (is_plain(bare) or is_drafted(bare)):
        return bare.rstrip(":").strip()
    if marked and len(bare.split()) <= 6 and any(sign.isalpha() for sign in bare) and not _GENERAL.search(bare):
        return bare.rstrip(":").strip()
    return None


def _command(line: str) -> str:
    """A command; a long one is cut to its program and the options about drafts."""
    bare = line.strip().strip("#*_=-`>$ ").strip()
    if len(bare) <= LONGEST:
        return bare
    program, *options = re.split(r"\s(?=-)", bare)
    kept = [option for option in options if mentions_drafts(option) or option.startswith(_KEPT)]
    if options and options[0].startswith("-m ") and "python" in program:
        kept.insert(0, options[0])
    return " ".join([program[: LONGEST // 2], *kept])[:300]


def is_log_line(line: str) -> bool:
    """Whether a line begins like one of a log."""
    return _LOGGED.match(line) is not None


def is_plain(text: str) -> bool:
    """Whether a heading says that nothing was drafted; of a command only its options count, not a model's name."""
    if is_command(text):
        return _OFF.search(text) is not None
    return _PLAIN.search(text) is not None


def is_command(text: str) -> bool:
    """Whether a heading is the command that was run."""
    return _COMMAND.match(text) is not None


_SPOKEN = re.compile(
    r"accept(?:ed|ance|[_ -]?(?:len|rate))|\bdraft|(?:\b|_)spec(?:ulat|[_-]|\b)|\beagle|\bmedusa|\bmtp\b|\bn-?gram"
    r"|\bdflash|assistant_model|prompt_lookup",
    re.IGNORECASE,
)
_EARLY = re.compile(r"p[-_]min\W{1,4}0?[.,][0-9]*[1-9]|confidence")


def mentions_drafts(line: str) -> bool:
    """Whether a line has a word that occurs only in speculative decoding."""
    return _SPOKEN.search(line) is not None


def turns_on(line: str) -> bool:
    """Whether a line has an option that starts drafting, and none that stops it."""
    return _ON.search(line) is not None and _OFF.search(line) is None


def stops_early(text: str) -> bool:
    """Whether a setting lets the drafter stop early when it is unsure."""
    return _EARLY.search(text) is not None


def is_drafted(text: str) -> bool:
    """Whether a heading says that something was drafted."""
    if is_command(text):
        return turns_on(text)
    return not is_plain(text) and _DRAFTED.search(text) is not None


_ENGINES = (
    ("mlx-lm", re.compile(r"mlx|tokens-per-sec", re.IGNORECASE)),
    ("tabbyapi", re.compile(r"tabby|exllama|\bexl[23]\b|cached tokens and|draft_model_name", re.IGNORECASE)),
    ("lmstudio", re.compile(r"lm ?studio|\blms\b", re.IGNORECASE)),
    ("tensorrt-llm", re.compile(r"tensorrt|trt-?llm|max_draft_len|decoding_type", re.IGNORECASE)),
    ("koboldcpp", re.compile(r"kobold|--draftamount", re.IGNORECASE)),
    ("sglang", re.compile(r"sglang|sgl\b|speculative[-_]num[-_]steps|#questions", re.IGNORECASE)),
    ("vllm", re.compile(r"vllm|num_spec(?:ulative)?_tokens|EngineCore|APIServer", re.IGNORECASE)),
    (
        "llama.cpp",
        re.compile(r"llama\.cpp|llama-(?:server|cli|bench|spec|lookup|run|swap)|gguf|--spec-|draft-max", re.IGNORECASE),
    ),
    ("ollama", re.compile(r"ollama", re.IGNORECASE)),
    ("transformers", re.compile(r"transformers|assistant_model|prompt_lookup", re.IGNORECASE)),
)
_LENGTH = re.compile(
    r"(?:num[_-]spec(?:ulative)?[_-]tokens|spec-draft-n-max|draft-max|num[_-]steps|draft-n-max|draftamount"
    r"|(?<!speculative[-_])num[_-]draft[_-]tokens|draft_num_tokens|max_draft_len|num_assistant_tokens"
    r"|prompt_lookup_num_tokens|n_max|\bk)\W{1,4}(\d{1,3})\b"
)
_METHOD = re.compile(
    r"(?:\bmethod\W{0,2}[:=]\W{0,3}|--speculative-algorithm[ =]|speculative_algorithm\W{1,5}|--spec-type[ =]"
    r"|decoding_type\W{1,5})([\w-]{2,40})"
)
_DRAFTER = re.compile(
    r"(?:--speculative-draft-model-path|--model-draft|(?<!\S)-md|--draft-?model|draft_model_name:|speculative_model(?:_dir)?:)"
    r"[ =]([^\s\"'`]{1,80})"
)


def engine_in(text: str) -> str:
    """The engine that a text mentions most; "" for none."""
    counts = {name: len(pattern.findall(text[:200_000])) for name, pattern in _ENGINES}
    most = max(counts, key=lambda name: counts[name])
    return most if counts[most] else ""


def length_in(text: str) -> int | None:
    """The draft length that a command or a configuration sets; None if there is none, or several that differ."""
    found = {int(one) for one in _LENGTH.findall(text)}
    return found.pop() if len(found) == 1 else None


def settings_only(text: str) -> str:
    """For a text without any output: what its command or configuration sets and what to add; "" if it sets nothing."""
    text = text[:200_000]
    method, drafter, lengths = _METHOD.search(text), _DRAFTER.search(text), sorted(set(map(int, _LENGTH.findall(text))))
    given = [f"method {method[1]}"] if method and method[1] != "none" else []
    given += [f"draft model {drafter[1]}"] if drafter else []
    given += [f"drafts of {' or '.join(map(str, lengths[:4]))} tokens"] if lengths else []
    if not given:
        return ""
    engine = engine_of(engine_in(text))
    return (
        f"it sets how {engine.title} drafts ({', '.join(given)}) and contains no run. "
        f"Add an output: {engine.time}. To see whether it pays, {engine.plain}"
    )
