"""What an operator lets visitors load: which presets, and which models of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.words import run as says
from hsd_core.models.local import local_databases, local_models


class OfferError(ValueError):
    """An operator's list that names what is not there; the message says what there is."""


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """`presets`: names of those that visitors may load, none for all. `models`: a folder of models and databases that
    they may name. `prompt_tokens`: of the longest prompt, None for the default."""

    presets: tuple[str, ...] = ()
    models: Path | None = None
    prompt_tokens: int | None = None

    @classmethod
    def of(cls, presets: str, models: str, catalogue: Sequence[dict[str, Any]]) -> ServerOffer:
        """From the command line: names separated by commas, and a folder; "" for no limit and for none. The longest
        prompt comes from `HSD_PROMPT_TOKENS`.

        Raises:
            OfferError: an unknown preset, no such folder, or no such number of tokens.
        """
        names = tuple(name.strip() for name in presets.split(",") if name.strip())
        known = [entry["name"] for entry in catalogue]
        for name in names:
            if name not in known:
                raise OfferError(f"there is no preset {name!r}; the presets are {', '.join(known)}")
        folder = Path(models).expanduser() if models.strip() else None
        if folder is not None and not folder.is_dir():
            raise OfferError(f"{models!r} is not a folder; name one that holds models, each a folder or a .gguf file")
        asked = os.environ.get("HSD_PROMPT_TOKENS", "").strip()
        if asked and (not asked.isdecimal() or int(asked) < 1):
            raise OfferError(f"HSD_PROMPT_TOKENS is {asked!r}; write how many tokens a prompt may have, such as 2048")
        return cls(names, folder, int(asked) if asked else None)

    def catalogue(self, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The catalogue as visitors see it: what is not offered stays in it, with the reason; usable presets first."""
        shown = [self._entry(entry) for entry in entries]
        return sorted(shown, key=lambda entry: not entry["usable"])

    def _entry(self, entry: dict[str, Any]) -> dict[str, Any]:
        if self.presets and entry["name"] not in self.presets:
            reason = says.offers(", ".join(self.presets))
            return {**entry, "usable": False, "reason": reason, "needs_download": False}
        if self.models is None:
            return entry
        files = {"databases": local_databases(self.models)}
        named = [{**level, **files} if level["name"] == "ngram" else level for level in entry["levels"]]
        return {**entry, "levels": [*named, *self._models(entry)]}

    def _models(self, entry: dict[str, Any]) -> list[dict[str, Any]]:
        """One level for each model of the folder, where the preset's levels are models at all."""
        own = next((level for level in entry["levels"] if level["name"] == "model"), None)
        if own is None or self.models is None:
            return []
        return [
            {**own, "label": m.name, "params": {"id": m.name}, "usable": not m.reason, "reason": m.reason}
            for m in local_models(self.models)
        ]


EVERYTHING = ServerOffer()
