"""The target's keys for kNN-LM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hsd_core.grammar.key import Choice, Share, Whole

if TYPE_CHECKING:
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.systems.store.mixture import Mixing

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
