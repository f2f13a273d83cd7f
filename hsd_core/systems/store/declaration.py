"""The target with a store of a text (kNN-LM), and a draft with a cache of the store's results (RaLMSpec)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import DRAFTER, Share
from hsd_core.grammar.keys import DEVICE, DTYPE, ID, VERIFIES
from hsd_core.grammar.kind import GREEN, Kind, KindText, Look, NameForms, Placement, Planning, Reads, Shares, Site
from hsd_core.grammar.registry import Extension
from hsd_core.grammar.strategies import PolicyKind
from hsd_core.systems.store.store_keys import OF_STORE, mixing_of
from hsd_core.systems.store.store_path import missing_store
from hsd_core.systems.store.strides import Os3

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.systems.store.store_level import CachedLevel, StoreLevel


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    reason = preset.whole or ("" if preset.text_db else "there is no text to make a store of for this tokenizer")
    return [kind.entry(kind.text.title, reason=reason)]


def build(spec: LevelSpec, site: Site) -> CachedLevel:
    from hsd_core.systems.store.store_file import opened_store
    from hsd_core.systems.store.store_level import CachedLevel

    decoder = site.layered(spec)
    return CachedLevel(
        decoder,
        opened_store(spec, site, decoder),
        mixing_of(spec),
        kind=spec.name,
        label="the target and a cache of its store",
        weights=site.preset.target.as_dict(site.folder),
    )


KINDS = (
    Kind(
        name="cached",
        order=66,
        look=Look("C", GREEN, "dashed"),
        text=KindText(
            title="cache of the store",
            about="The target\u2019s own layers, with what its store has returned so far in place of the store.",
            help="It runs all layers of the target, so that one query of the store verifies its tokens together "
            "(RaLMSpec). It stands below target@knn=store.",
            in_names=NameForms(("a cache of the store",)),
        ),
        keys=VERIFIES,
        placement=Placement(needs=frozenset({"weights"})),
        shares=Shares(reads=Reads(), of_target=lambda spec: True, follows=OF_STORE),
        planning=Planning(named=True),
        offer=offer,
        build=build,
    ),
)


def build_with_store(spec: LevelSpec, site: Site, plain: Callable[[LevelSpec, Site], Level]) -> StoreLevel:
    """The target mixed with a store, in place of the plain target."""
    from hsd_core.systems.store.store_file import opened_store
    from hsd_core.systems.store.store_level import StoreLevel

    source = site.of_target(spec.get(ID))
    spec = spec.having(dtype=spec.get(DTYPE) or site.dtype, device=spec.get(DEVICE) or site.device)
    decoder, label = site.layered(spec), f"{source.title} and a store"
    store, weights = opened_store(spec, site, decoder), source.as_dict(site.folder)
    return StoreLevel(decoder, store, mixing_of(spec), kind=spec.name, label=label, weights=weights)


EXTENDS = (
    Extension(
        of="target",
        keys=OF_STORE,
        build=build_with_store,
        help="@knn=store mixes its words with what followed like places of a text (kNN-LM), a distribution of its "
        "own; python -m hsd_core knn-store makes the store.",
        first=missing_store,
    ),
)

POLICIES = (
    PolicyKind(
        name="os3",
        order=50,
        words="os3 · as many as one query of a store pays for",
        make=Os3,
        in_names="stops where a query pays",
        keys=(
            Share(
                name="ask",
                place=21,
                counts=DRAFTER,
                usual=0.5,
                label="query",
                noted="a query is {} of a step",
                tip="what one query of the store takes, as a share of a step of this level (OS3); below 2/3 a block "
                "of 1 is the best",
            ),
        ),
    ),
)
