"""The target with a store of a text (kNN-LM), and a draft with a cache of the store's results (RaLMSpec)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import DRAFTER, Choice, Share, Whole
from hsd_core.grammar.keys import DEVICE, DTYPE, ID, VERIFIES
from hsd_core.grammar.kind import GREEN, Kind, KindText, Look, NameForms, Placement, Planning, Reads, Shares, Site
from hsd_core.grammar.registry import Extension
from hsd_core.grammar.strategies import PolicyKind
from hsd_core.models.weights.store import cache_folder
from hsd_core.stacks.targets import preset_option
from hsd_core.systems.store.strides import Os3

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.systems.store.mixture import Mixing
    from hsd_core.systems.store.store_level import CachedLevel, StoreLevel

MAKING = "two to ten minutes"  # on two cores, for a target of 135 M weights


def store_path(preset_key: str) -> Path:
    """The file of the store of a preset's target."""
    return cache_folder() / "knn" / f"{preset_key}.safetensors"


def missing_store(preset: Preset) -> str:
    """A sentence that the store of a preset's target must be built, and how; "" if it exists."""
    if store_path(preset.key).is_file():
        return ""
    return (
        f"A store of what the target makes of a text, made once by whoever runs this server, in {MAKING} on two cores: "
        f"python -m hsd_core knn-store {preset_option(preset.name)}"
    )


KNN = Choice(
    name="knn",
    place=62,
    choices=("store",),
    words={"": "the model alone", "store": "store · and what followed like places of a text (kNN-LM)"},
    terms={"store": "a store"},
    label="store",
    noted="{}",
    around="{level} with a store",
    tip="whether the target mixes its words with what followed the places of a text where its state was most like this "
    "one; the output follows the mixture",
)
NEAR = Whole(
    name="near",
    place=63,
    of=(KNN.name,),
    usual=16,
    low=1,
    high=1024,
    label="neighbours",
    noted="{} neighbours",
    tip="how many of the nearest places of the store speak",
)
MIX = Share(
    name="mix",
    place=64,
    of=(KNN.name,),
    usual=0.25,
    label="store\u2019s share",
    noted="{} of the store",
    tip="how much of the mixture is the store\u2019s; the rest is the model\u2019s. By default enough for its words "
    "to be seen; less is better with SmolLM2\u2019s small store (measured by knn-store --judge)",
)
HEAT = Share(
    name="heat",
    place=65,
    of=(KNN.name,),
    usual=0.05,
    low=0.01,
    label="heat",
    noted="heat {}",
    tip="the temperature of distances, which are squared ones of states of length 1 (0 to 4): the lower, the more the "
    "nearest place counts",
)
OF_STORE = (KNN, NEAR, MIX, HEAT)


def mixing_of(spec: LevelSpec) -> Mixing:
    """The mixing that a level's keys ask for."""
    from hsd_core.systems.store.mixture import Mixing

    return Mixing(spec[NEAR], spec[MIX], spec[HEAT])


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
            in_names=NameForms(("[a ]cache of the store",)),
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
