"""A key whose value is an ordered list of sources: letters of an alphabet, and files."""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.grammar.key import FileKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources(FileKey):
    """Letters of an alphabet, each at most once, and names of files, separated by plus signs: cm, c+notes.npz.

    suffix: of file names, which have no comma, @ or +, as these are signs of the grammar.
    """

    type = "sources"
    alphabet: str

    @property
    def cure(self) -> str:
        most, last = self.alphabet[:-1], self.alphabet[-1]
        return (
            f"use the letters {', '.join(most)} and {last}, each at most once, in order of lookup, or {self.suffix} "
            f"files set off by plus signs: {self.alphabet[0]}+notes{self.suffix}"
        )

    def parse(self, text: str) -> str | None:
        parts = self.parts(text)
        known = all(self._is_file(part) or part in self.alphabet for part in parts)
        return self._written(parts) if all(text.split("+")) and known and len(set(parts)) == len(parts) else None

    def parts(self, value: str) -> list[str]:
        """Every letter and every file, in order."""
        return [part for named in value.split("+") for part in ([named] if self._is_file(named) else named)]

    def files(self, value: str) -> list[str]:
        """The files alone."""
        return [part for part in self.parts(value) if self._is_file(part)]

    def _is_file(self, part: str) -> bool:
        return part.endswith(self.suffix)

    def _written(self, parts: list[str]) -> str:
        """The one way to write them: no plus sign between letters."""
        text = "".join(f"+{part}+" if self._is_file(part) else part for part in parts)
        return text.replace("++", "+").strip("+")
