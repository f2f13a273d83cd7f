"""The target, read before its last layer: at one depth, at a depth that every round chooses anew (policy del), or at
the first of several exits that is sure of the next token (climb, which rule trust keeps unjudged)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import VERIFIER, Choice, Depths, Share, StackError, Switch, Value, Whole, depths_of
from hsd_core.grammar.keys import AT, DTYPE, FUSE, GROW, HEAD, ID, MAX_DEPTH, POLICY, THETA, TREE, VERIFIES, VOCAB
from hsd_core.grammar.kind import (
    GREEN,
    Kind,
    KindText,
    Look,
    NameForms,
    Placement,
    Planning,
    Reads,
    Shares,
    Site,
    Unplanned,
    WrittenAs,
)
from hsd_core.grammar.strategies import RuleKind
from hsd_core.levels.building import split_layers
from hsd_core.models.drafts import known_drafts

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.levels.readout import Readout, TrimmedHead
    from hsd_core.levels.trunk import Layered
    from hsd_core.models.drafts.draft_file import DraftInfo

DRAFT_OF_EXIT = replace(ID, known=(known_drafts.LENS,))


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    drafts = [
        {
            "name": draft.name,
            "title": "trained, fed by the target" if draft.fed else "trained, this layer alone",
            "fed": draft.fed,
            "at": draft.at,
        }
        for draft in known_drafts.shipped(preset.name)
        if draft.at
    ]
    trained = sorted({draft["at"] for draft in drafts})
    at = trained[0] if trained else max(1, preset.layers // 4)
    depth = {"min": 1, "max": max(1, preset.layers - 1), "default": at, "trained": trained}
    return [kind.entry("early exit", reason=preset.whole, params={"at": at}, depth=depth, drafts=drafts)]


def decoder_of(spec: LevelSpec, site: Site) -> tuple[Layered, int]:
    """The target's decoder, and the number of layers that an exit runs.

    Raises:
        StackError: the target has no such layer.
    """
    decoder, at = site.layered(spec), spec[AT]
    refuse_deeper(spec, decoder, at)
    return decoder, at


def refuse_deeper(spec: LevelSpec, decoder: Layered, at: int) -> None:
    """
    Raises:
        StackError: the target has no layer behind `at`.
    """
    if at >= decoder.layers:
        deepest = decoder.layers - 1
        raise StackError(f"{spec.name} at {at}: the target has {decoder.layers} layers; use @at=1 to @at={deepest}")


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.levels.opened_drafts import draft_of
    from hsd_core.systems.exits.exit_level import ExitLevel

    decoder, at = decoder_of(spec, site)
    split_layers(decoder, [at])
    draft = None if spec.get(ID) == known_drafts.LENS else draft_of(spec, site, decoder)
    weights = site.preset.target.as_dict(site.folder)
    if draft is None:
        return ExitLevel(decoder, at, lens(spec, site, decoder), weights=weights)
    refuse_trimmed(spec, draft.name)
    return ExitLevel(decoder, at, draft, weights={**weights, "draft": draft.name})


def lens(spec: LevelSpec, site: Site, decoder: Layered) -> TrimmedHead | None:
    """The read-out by the model's own head, if that is trimmed; else None."""
    from hsd_core.levels.head_ids import head_ids
    from hsd_core.levels.readout import TrimmedHead

    ids = head_ids(spec, site)
    return None if ids is None else TrimmedHead(decoder, ids)


def refuse_trimmed(spec: LevelSpec, draft: str) -> None:
    """
    Raises:
        StackError: `@vocab=` is given to a trained draft.
    """
    if spec[VOCAB]:
        cure = f"leave @vocab= out, or write @id={known_drafts.LENS}"
        raise StackError(f"{spec.name}: the trained draft {draft} has a trimmed head of its own; {cure}")


def reads_draft(draft: DraftInfo) -> dict[str, Value] | None:
    return {AT.name: draft.at} if draft.at else None


KIND = Kind(
    name="exit",
    order=30,
    look=Look("E", GREEN, "wavy"),
    text=KindText(
        title="early exit",
        about="The target after its first layers, read by a trained draft or by the model's own head.",
        help="@at= says after how many layers; @id= names a trained draft, @id=lens the model's own head, which "
        "@vocab= trims. Keys, values and hidden states are shared with every level that uses the same weights.",
        in_names=NameForms(
            ("[an ]early {dtype} exit at layer {at}", "[an ]exit at layer {at}"),
            terms={known_drafts.LENS: "the model's own head"},
        ),
    ),
    keys=(AT, *VERIFIES, DTYPE, *HEAD, DRAFT_OF_EXIT),
    placement=Placement(block=2, cheap=True, needs=frozenset({"weights"})),
    shares=Shares(reads=Reads(depth=AT.name), of_target=lambda spec: True, draft=reads_draft),
    offer=offer,
    build=build,
)


def build_chosen(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.levels.opened_drafts import trained
    from hsd_core.levels.readout import Lens
    from hsd_core.systems.exits.chosen_exit import ChoosingLevel

    decoder, deepest = decoder_of(spec, site)
    found: dict[int, Readout] = {}
    if spec.get(ID) != known_drafts.LENS:
        found |= {draft.at: draft for draft in trained(site, decoder) if 1 <= draft.at <= deepest and not draft.fed}
    if not found:  # DEL's own setting: every layer, through the model's own head
        found = dict.fromkeys(range(1, deepest + 1), lens(spec, site, decoder) or Lens(decoder))
    else:
        refuse_trimmed(spec, next(iter(found.values())).name)
    split_layers(decoder, found)
    return ChoosingLevel(decoder, found, weights=site.preset.target.as_dict(site.folder))


THROUGH = Depths(name=AT.name, place=AT.place, high=MAX_DEPTH, noted="layers {}")
SURE = THETA.usually(
    0.6, "an exit drafts a token where its top probability is at least \u03b8; else the next one is asked"
)
BY = Choice(
    name="by",
    place=21,
    usual="top",
    choices=("top", "gap"),
    words={
        "top": "top · the first choice's probability (AdaDecode)",
        "gap": "gap · its distance from the second's (FREE)",
    },
    terms={"gap": "by the gap between two choices"},
    noted="{}",
    label="sure by",
    tip="what an exit's sureness is: its first choice's probability, or how far that is above the second's",
)
MOVES = Switch(
    name="moves",
    place=22,
    usual=False,
    label="moving \u03b8",
    terms={"1": "a moving \u03b8"},
    noted="{}",
    tip="whether \u03b8 follows the verdicts: fitted to how sure the exit was where the level above chose the same "
    "token and where it did not (FREE)",
)


def offer_climb(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    found = sorted({draft.at for draft in known_drafts.shipped(preset.name) if draft.at and not draft.fed})
    params = {AT.name: "-".join(map(str, found))} if found else {AT.name: str(max(1, preset.layers // 4)), "id": "lens"}
    return [kind.entry("climbing exits", reason=preset.whole, params=params)]


def build_climb(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.levels.opened_drafts import trained
    from hsd_core.levels.readout import Lens
    from hsd_core.systems.exits.climb import ClimbLevel

    decoder, depths = site.layered(spec), depths_of(spec[THROUGH])
    refuse_deeper(spec, decoder, depths[-1])
    if spec.get(ID) == known_drafts.LENS:
        found: dict[int, Readout] = dict.fromkeys(depths, lens(spec, site, decoder) or Lens(decoder))
    elif (named := spec.get(ID)) is not None:
        raise StackError(
            f"climb: @id={named} names one draft, and every exit has its own; leave @id= out, or write @id=lens for "
            "the model's own head"
        )
    else:
        own = {draft.at: draft for draft in trained(site, decoder) if draft.at and not draft.fed}
        if lacking := [at for at in depths if at not in own]:
            where = f"they were trained at {', '.join(map(str, sorted(own)))}" if own else "none were trained"
            raise StackError(
                f"climb: no draft reads layer {lacking[0]} of this target, {where}; write climb@at="
                f"{'-'.join(map(str, depths))}@id={known_drafts.LENS} for the model's own head"
            )
        found = {at: own[at] for at in depths}
        refuse_trimmed(spec, own[depths[0]].name)
    split_layers(decoder, found)
    how = {"gap": spec[BY] == "gap", "moves": bool(spec[MOVES])}
    return ClimbLevel(decoder, found, spec[THETA], **how, weights=site.preset.target.as_dict(site.folder))


CLIMB = Kind(
    name="climb",
    order=32,
    look=Look("E", GREEN, "dashed"),
    text=KindText(
        title="climb",
        about="Several exits of the target: each token is drafted at the first one that is sure of it (AdaDecode).",
        help="@at=4-8 names the layers; every exit is read by the draft that was trained there, with @id=lens by the "
        "model's own head. Where no exit has a top probability of @theta= the draft ends, and the level above goes on.",
        in_names=NameForms(("[a ]sure exit at layer {at}",), terms={known_drafts.LENS: "the model's own head"}),
    ),
    keys=(THROUGH, SURE, BY, MOVES, DTYPE, *HEAD, DRAFT_OF_EXIT),
    placement=Placement(verifies=False, cheap=True, needs=frozenset({"weights"})),
    shares=Shares(reads=Reads(depth=AT.name), of_target=lambda spec: True),
    planning=Planning(named=True),
    offer=offer_climb,
    build=build_climb,
)

KINDS = (
    KIND,
    CLIMB,
    replace(
        KIND,
        name="del",
        order=31,
        text=KindText(
            title="chosen exit",
            about="One of the target's exits, chosen again in every round with the length of its draft (DEL).",
            help="Written exit@at=N@policy=del: N is the deepest exit that may be chosen. It chooses among trained "
            "exits; with @id=lens, or where none is trained, among all layers up to N, read by the model's own head.",
            in_names=NameForms(("[an ]exit chosen each round",)),
        ),
        planning=Planning(
            unplanned=lambda spec: Unplanned(
                "policy del, which chooses among exits",
                "policy del chooses among exits; calibrate exit@at=N, each by itself",
            )
        ),
        written=WrittenAs(
            KIND.name,
            POLICY.name,
            "del",
            words="del · choose exit and length again in every round",
            wrong="policy del chooses an exit of the target right above it; write exit:6@at=8@policy=del,target",
            without={
                ID.name: "policy del chooses among all trained exits up to @at=; leave @id= out, or write @id=lens for "
                "every layer by the model's own head",
                TREE.name: "policy del drafts one candidate; leave @tree= out",
                GROW.name: "policy del drafts one candidate; leave @grow= out",
                FUSE.name: "policy del drafts one candidate; leave @fuse= out",
            },
            takes={ID.name: known_drafts.LENS},
        ),
        offer=lambda kind, preset: [],
        build=build_chosen,
    ),
)

# functions that read a finished run's text, by the name of the setting that asks for them
AFTER_RUN = {"depths": "hsd_core.systems.exits.depths:read_depths"}
RULES = (
    RuleKind(
        name="top",
        order=40,
        words="top · keep what is among the first k choices",
        in_names="keeps likely tokens",
        function="hsd_core.systems.exits.exit_level:top",
        lossless=False,
        keys=(
            Whole(
                name="k",
                place=40,
                counts=VERIFIER,
                usual=1,
                noted="k = {}",
                low=1,
                high=64,
                tip="a drafted token is kept when it is among this level's k most likely",
            ),
        ),
        strays=lambda k: f"accepts any of its {k} likeliest tokens" if k > 1 else "",
        scores=True,
    ),
    RuleKind(
        name="trust",
        order=50,
        words="trust · keep everything unjudged (FREE)",
        in_names="keeps drafts unjudged",
        function="hsd_core.systems.exits.trusting:trust",
        lossless=True,
        keys=(
            Share(
                name="rollback",
                place=41,
                counts=VERIFIER,
                usual=20.0,
                high=20.0,
                step=0.5,
                noted="cut at {} nats",
                tip="a draft is cut at the first token whose \u2212log p here is larger, in nats; 20: nowhere, 0: this "
                "level draws every token itself",
            ),
        ),
        strays=lambda rollback: "keeps drafted tokens unjudged" if rollback else "",
        trees=False,
        scores=True,
    ),
)
