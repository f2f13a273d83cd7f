"""Text to ids and back, from a folder's tokenizer.json, without importing transformers, which takes seconds.

A token's `piece` is its bytes, so pieces can be joined into characters that span tokens.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from tokenizers import Tokenizer as FastTokenizer

from hsd_core.models.weights.source import saved_again, text_of

_CUT = "\ue000"  # a private character that no template writes; it marks the user's text


class TokenizerError(ValueError):
    """A folder without a usable tokenizer, or an invalid text; the message has the cure."""


class TextCodec(Protocol):
    """Text to ids and back, for a preset: the tokenizer of a model, or of levels without weights.

    Attributes:
        vocab_size, eos_ids: see `Tokenizer`.
    """

    vocab_size: int
    eos_ids: frozenset[int]

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        ...

    def chat(self, *said: str) -> list[int]:
        """The ids of what user and model said in turn, the user first and last, followed by those that open the
        answer."""
        ...

    def turn(self, start: str, system: str | None = None) -> tuple[list[int], list[int]]:
        """The ids of an unfinished user's turn that begins with `start`, and those that close it and open the
        answer."""
        ...

    def piece(self, id_: int) -> bytes: ...
    def is_special(self, id_: int) -> bool: ...


class Tokenizer:
    """The tokenizer of a model folder.

    Attributes:
        vocab_size: one more than the largest id of text or a special token.
        eos_ids: the ids that end a text. end: the usual one of them, or None.
        digest: a hash of vocabulary, merges and special ids.
    """

    def __init__(self, folder: str | Path) -> None:
        """
        Raises:
            TokenizerError: there is no tokenizer.json, or it cannot be read.
        """
        folder = Path(folder)
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise TokenizerError(f"{folder} has no tokenizer.json; {saved_again(folder.name, 'T')}")
        spec = _text(path)
        try:
            self._fast = FastTokenizer.from_str(spec)
            self._spec: dict[str, Any] = json.loads(spec)
        except Exception as error:  # the Rust library raises bare Exception
            raise TokenizerError(f"{path} cannot be read: {error}") from error
        self._config = _json(folder / "tokenizer_config.json")
        self._template_file = folder / "chat_template.jinja"
        self._token_of: dict[int, str] = {i: t for t, i in self._fast.get_vocab(with_added_tokens=True).items()}
        self._added = {a["id"]: a for a in self._spec.get("added_tokens", [])}
        self.vocab_size = max(self._token_of) + 1
        self.eos_ids = self._ends(_json(folder / "generation_config.json"), _json(folder / "config.json"))
        named = self._fast.token_to_id(self._named("eos_token") or "")
        self.end = named if named in self.eos_ids else min(self.eos_ids, default=None)

    def encode(self, text: str) -> list[int]:
        """Ids of a text, special tokens included, with the tokenizer's start token if it adds one.

        Raises:
            TokenizerError: the text has a lone surrogate, which has no UTF-8.
        """
        _refuse_surrogates(text)
        return self._fast.encode(text).ids

    def within(self, text: str) -> list[int]:
        """Ids of a text within other text: no start token, no blank added before it, special tokens as text.

        Raises:
            TokenizerError: as `encode`.
        """
        _refuse_surrogates(text)
        return self._inner.encode(text, add_special_tokens=False).ids

    @cached_property
    def start(self) -> list[int]:
        """The ids before every text."""
        return self._fast.encode("").ids

    def chat(self, *said: str) -> list[int]:
        """Ids of a conversation in the model's chat template, up to where the assistant's answer starts.

        A model without a template gets the bare texts, a blank line between them. Special tokens written out in them
        are plain text.

        Args:
            said: what user and model said in turn, the user first and last.
        Raises:
            TokenizerError: a text has a lone surrogate, or the template fails.
        """
        prompt = "\n\n".join(said)
        _refuse_surrogates(prompt)
        template = self._template
        if template is None:
            return self._literal.encode(prompt).ids
        if self._spelled is None or not self._spelled.search(prompt):
            return self._fast.encode(self._render(template, *said), add_special_tokens=False).ids
        # A template may change the prompt (trim it, for example), so its position is not known afterwards. So special
        # tokens spelled in the prompt are replaced by private characters: those in the result are the template's.
        free = (c for c in map(chr, range(0xE000, 0xF900)) if c not in prompt)
        marks = dict(zip(sorted(set(self._spelled.findall(prompt))), free, strict=False))
        back = str.maketrans({mark: token for token, mark in marks.items()})
        rendered = self._render(template, *(self._spelled.sub(lambda found: marks[found[0]], text) for text in said))
        ids: list[int] = []
        for i, part in enumerate(self._spelled.split(rendered)):
            fast = self._fast if i % 2 else self._literal  # the odd parts are special tokens
            ids += fast.encode(part.translate(back), add_special_tokens=False).ids
        return ids

    def turn(self, start: str, system: str | None = None) -> tuple[list[int], list[int]]:
        """See `TextCodec.turn`.

        Raises:
            TokenizerError: the model has no chat template, or one that changes the text.
        """
        template = self._template
        if template is None:
            raise TokenizerError("the model has no chat template, so nothing says where a user's turn begins")
        parts = self._render(template, start + _CUT, system=system).split(_CUT)
        if len(parts) != 2:
            raise TokenizerError("the model's chat template does not keep a user's text as it is")
        opening, closing = (self._fast.encode(part, add_special_tokens=False).ids for part in parts)
        return opening, closing

    def piece(self, id_: int) -> bytes:
        """The bytes of an id; for a special token its name; none for an unused id."""
        token = self._token_of.get(id_)
        if token is None:
            return b""
        if id_ in self._added:
            return token.encode()
        if self._byte_level:
            if (text := token.replace("\u0120", " ")).isascii():  # the fast path of most tokens
                return text.encode()
            try:
                return bytes(map(_BYTE_OF.__getitem__, token))
            except KeyError:
                return token.encode()
        if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
            return bytes([int(token[3:5], 16)])
        return token.replace("\u2581", " ").encode()

    def is_special(self, id_: int) -> bool:
        """Whether the id is a control token, not text. Unused ids count as special."""
        return id_ not in self._token_of or bool(self._added.get(id_, {}).get("special"))

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids, without special tokens; bytes that are not UTF-8 become U+FFFD."""
        return self._fast.decode(list(ids), skip_special_tokens=True)

    @cached_property
    def digest(self) -> str:
        identity = [sorted(self.ids.items()), self.merges, sorted(self.specials.items())]
        return hashlib.sha256(json.dumps(identity, ensure_ascii=True).encode()).hexdigest()

    @property
    def ids(self) -> dict[str, int]:
        """Token -> id, added tokens included."""
        return {t: i for i, t in self._token_of.items()}

    @cached_property
    def merges(self) -> list[str]:
        merges = self._spec.get("model", {}).get("merges") or []
        return [m if isinstance(m, str) else " ".join(m) for m in merges]

    @property
    def specials(self) -> dict[str, int]:
        """Special token -> id."""
        return {a["content"]: i for i, a in self._added.items() if a.get("special")}

    @cached_property
    def _literal(self) -> FastTokenizer:
        """The same tokenizer, with special tokens in a text as text."""
        literal = FastTokenizer.from_str(self._fast.to_str())
        literal.encode_special_tokens = True
        return literal

    @cached_property
    def _inner(self) -> FastTokenizer:
        """The same without the blank that some tokenizers add before a text."""
        spec = json.loads(self._literal.to_str())
        for part in ("normalizer", "pre_tokenizer"):
            spec[part] = _unprefixed(spec.get(part))
        inner = FastTokenizer.from_str(json.dumps(spec))
        inner.encode_special_tokens = True
        return inner

    @cached_property
    def _spelled(self) -> re.Pattern[str] | None:
        """Matches special tokens in a text, the longest first; None if the tokenizer has none."""
        names = sorted(self.specials, key=len, reverse=True)
        return re.compile(f"({'|'.join(map(re.escape, names))})") if names else None

    @cached_property
    def _byte_level(self) -> bool:
        return '"ByteLevel"' in json.dumps([self._spec.get("decoder"), self._spec.get("pre_tokenizer")])

    @cached_property
    def _template(self) -> str | None:
        if self._template_file.is_file():
            return _text(self._template_file)
        template = self._config.get("chat_template")
        if isinstance(template, list):  # several, by name
            template = next((t["template"] for t in template if t.get("name") == "default"), None)
        return template

    def _render(self, template: str, *said: str, system: str | None = None) -> str:
        from hsd_core.models.chat_template import environment

        keys = {"bos_token", "eos_token", "pad_token", *(key for key in self._config if key.endswith("_token"))}
        named = {key: self._named(key) or "" for key in keys}
        messages = [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(said)]
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        try:
            made = environment().from_string(template)
            return made.render(messages=messages, tools=None, documents=None, add_generation_prompt=True, **named)
        except Exception as error:  # a template is a program and may raise anything
            raise TokenizerError(f"the model's chat template fails: {error}; use --raw") from error

    def _named(self, key: str) -> str | None:
        value = self._config.get(key)
        return value.get("content") if isinstance(value, dict) else value

    def _ends(self, *configs: dict[str, Any]) -> frozenset[int]:
        for config in configs:
            value = config.get("eos_token_id")
            if value is not None:
                return frozenset(value if isinstance(value, list) else [value])
        id_ = self._fast.token_to_id(self._named("eos_token") or "")
        return frozenset() if id_ is None else frozenset([id_])


def _unprefixed(part: Any) -> Any:
    """A normalizer or a pre-tokenizer without adding a blank before a text; None if it did nothing else."""
    if not isinstance(part, dict) or part.get("type") == "Prepend":
        return None
    for several in ("normalizers", "pretokenizers"):
        if several in part:
            return {**part, several: [own for one in part[several] if (own := _unprefixed(one))]}
    never: dict[str, dict[str, Any]] = {
        "Metaspace": {"prepend_scheme": "never"},
        "ByteLevel": {"add_prefix_space": False},
    }
    return {**part, **never.get(part.get("type", ""), {})}


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TokenizerError(
            f"character {error.start + 1} of the text is a lone surrogate (U+{ord(text[error.start]):04X}), half of a "
            "character; remove it"
        ) from None


def special_differences(one: Tokenizer, other: Tokenizer) -> tuple[int, ...]:
    """The ids of different tokens in two tokenizers, ascending: special in both, or missing in one.

    No text contains them, so both split every text in the same way; but a model may write one.

    Raises:
        TokenizerError: they differ in tokens that are text, in merges, or in which of the same tokens are special.
    """
    if one.digest == other.digest:
        return ()
    mine, theirs = one._token_of, other._token_of
    apart = tuple(i for i in sorted({*mine, *theirs}) if mine.get(i) != theirs.get(i))
    if not all(one.is_special(i) and other.is_special(i) for i in apart):
        most = max(len(mine), len(theirs))
        agree = sum(theirs.get(i) == token for i, token in mine.items())
        raise TokenizerError(f"tokenizer differs from the target's ({agree} of {most} ids agree)")
    if one.merges != other.merges:
        raise TokenizerError("tokenizer differs from the target's (same text, other merges)")
    if any(one.is_special(i) != other.is_special(i) for i in mine.keys() - set(apart)):
        raise TokenizerError("tokenizer differs from the target's (same ids, other special tokens)")
    return apart


def _text(path: Path) -> str:
    try:
        return text_of(path)
    except ValueError as error:
        raise TokenizerError(str(error)) from None


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(_text(path))
    except FileNotFoundError:
        return {}
    except json.JSONDecodeError as error:
        raise TokenizerError(f"{path} is not JSON: {error}; fetch the model again") from error
    return value if isinstance(value, dict) else {}


def _byte_of() -> dict[str, int]:
    """Byte-level BPE writes every byte as one printable character: printable Latin-1 as itself, the others (controls,
    space, soft hyphen) as characters from U+0100 on, in order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(0x100 + n): b for n, b in enumerate(others)}


_BYTE_OF = _byte_of()
