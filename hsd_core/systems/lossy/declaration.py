"""Rules that are not exact, over any draft. Each reduces to an exact one at the end of its scale."""

from __future__ import annotations

from hsd_core.grammar.key import VERIFIER, Share, Whole
from hsd_core.grammar.strategies import RuleKind

HERE = f"{__package__}.lossy_rules"
RULES = (
    RuleKind(
        name="kl",
        order=60,
        words="kl · also keep where both distributions are near (not exact)",
        in_names="keeps where distributions are near",
        function=f"{HERE}:kl",
        keys=(
            Share(
                name="tau",
                place=46,
                counts=VERIFIER,
                usual=0.3,
                high=20.0,
                label="τ",
                noted="τ = {}",
                tip="a rejected token is kept if the draft's distribution is nearer than this (KL, nats); 0 is exact",
            ),
        ),
        lossless=True,
        strays=lambda tau: f"keeps any token where the draft is nearer than {tau:g} nats" if tau else "",
        scores=True,
    ),
    RuleKind(
        name="cascade",
        order=62,
        words="cascade · also keep where the draft is as sure (not exact)",
        in_names="keeps what the draft is sure of",
        function=f"{HERE}:cascade",
        keys=(
            Share(
                name="cost",
                place=47,
                counts=VERIFIER,
                usual=0.0,
                low=-1.0,
                noted="cost {}",
                tip="how dear it is to ask this level: the higher, the less sure a draft has to be for its token to "
                "stay; −1 is exact",
            ),
        ),
        lossless=True,
        strays=lambda cost: "keeps any token that the draft is sure of" if cost > -1 else "",
        scores=True,
    ),
    RuleKind(
        name="typical",
        order=64,
        words="typical · keep what is likely enough (not exact when sampling)",
        in_names="keeps typical tokens",
        function=f"{HERE}:typical",
        keys=(
            Share(
                name="eps",
                place=48,
                counts=VERIFIER,
                usual=0.09,
                low=0.001,
                label="ε",
                noted="ε = {}",
                tip="a token is kept if its probability is above the smaller of ε and √ε · exp(−entropy)",
            ),
        ),
        lossless=False,
        one_hot=True,
    ),
    RuleKind(
        name="longest",
        order=66,
        words="longest · first words are not judged, the longest branch wins (not exact)",
        in_names="keeps the longest branch",
        function=f"{HERE}:longest",
        keys=(
            Whole(
                name="first",
                place=49,
                counts=VERIFIER,
                usual=3,
                low=1,
                high=64,
                label="first words",
                noted="{} first words",
                tip="a branch may begin with any of this level's so many likeliest tokens; 1 is exact",
            ),
        ),
        lossless=True,
        strays=lambda first: f"begins with any of its {first} likeliest tokens" if first > 1 else "",
        scores=True,
    ),
)
