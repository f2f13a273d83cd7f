"""The keys that several kinds have, and the limits of stacks. Other keys stand with their kind, rule or policy."""

from __future__ import annotations

from hsd_core.grammar.key import (
    BOTTOM,
    DRAFTER,
    TOPMOST,
    VERIFIER,
    Choice,
    FileName,
    Shape,
    Share,
    Switch,
    Text,
    WeightsName,
    Whole,
)
from hsd_core.models import DTYPES

MAX_BLOCK = 64
MAX_LEVELS = 8
MAX_GUESS = 8
MAX_COLUMNS = 16  # of a lookahead window
MAX_NGRAM = 8
MAX_NODES = 64  # of a tree of drafts
MAX_VOCAB = 300_000
MAX_DEPTH = 512  # layers, far above any model
MAX_POSITIONS = 1_000_000  # of a context, far above any model

BLOCK = Whole(name="block length", low=1, high=MAX_BLOCK)
AT = Whole(name="at", place=0, unit="layers", low=1, high=MAX_DEPTH, noted="layer {}")
# The registry adds the choices of these three, and after each the keys of its policies, rules or schedulers.
POLICY = Choice(
    name="policy", place=10, counts=DRAFTER, usual="fixed", noted="{}", tip="when this level hands its block up"
)
RULE = Choice(
    name="rule",
    place=30,
    counts=VERIFIER,
    usual="tokenwise",
    noted="{}",
    tip="how this level decides which drafted tokens to keep",
)
WITH = Choice(
    name="with",
    place=31,
    counts=VERIFIER,
    usual="sync",
    noted="{}",
    tip="whether the levels below draft on while this one verifies, as with a machine for each",
)
# of several schedulers: how many candidates the level below keeps ready
WIDTH = Whole(name="width", place=34, counts=TOPMOST, usual=2, low=2, high=MAX_GUESS, noted="{} wide")
THETA = Share(
    name="theta", place=20, counts=DRAFTER, label="θ", noted="θ = {}", tip="the stop threshold"
)  # of several policies
DTYPE = Choice(name="dtype", place=70, choices=DTYPES, terms={"int8": "8-bit", "int4": "4-bit"}, noted="{}")
DEVICE = Text(name="device", place=80, noted="on {}")
BONUS = Switch(name="bonus", place=90, counts=VERIFIER, usual=True, terms={"0": "no bonus token"}, noted="{}")
ID = WeightsName(name="id", place=95, noted="{}")
TREE = Shape(
    name="tree",
    place=5,
    counts=BOTTOM,
    fans=True,
    nodes=MAX_NODES,
    noted="{}",
    around="a tree from {level}",
    tip="how many tokens are offered after each token, by depth, or how many in all, where this level\u2019s own "
    "confidence decides after which (EAGLE-2); one pass of the level above judges them all",
    words={
        "": "one candidate",
        "2.1": "2.1 · two, each continued",
        "2.2.1": "2.2.1 · two after each of the first tokens",
        "3.1.1": "3.1.1 · three, each continued",
        "4.2.2": "4.2.2 · 28 tokens",
    },
)
GROW = Whole(
    name="grow",
    place=5,
    counts=BOTTOM,
    fans=True,
    instead=TREE.name,
    low=2,
    high=MAX_NODES,
    noted="{} in all",
    around="a dynamic tree from {level}",
    words={
        "6": "dynamic · up to 6 tokens, the most likely paths",
        "12": "dynamic · up to 12 tokens",
        "24": "dynamic · up to 24 tokens",
    },
)
REPLACE = Switch(
    name="replace",
    place=6,
    counts=BOTTOM,
    of=(TREE.name, GROW.name),
    usual=False,
    label="with replacement",
    terms={"1": "with replacement"},
    noted="{}",
    tip="whether the tokens for one place are drawn with replacement: each from the whole distribution, so that some "
    "may be the same; greedy runs offer the most likely ones either way",
)
FUSE = Whole(
    name="fuse",
    place=7,
    counts=BOTTOM,
    fans=True,
    beside=1,
    usual=0,
    low=0,
    high=MAX_GUESS,
    label="lookups",
    noted="{} lookups",
    around="{level} and lookups",
    tip="how many looked-up candidates are merged into the draft, each starting with one of its 8 most likely tokens",
)
GUESS = Whole(
    name="guess",
    place=55,
    counts=DRAFTER,
    fans=True,
    low=1,
    high=MAX_GUESS,
    label="guesses",
    noted="{} at once",
    tip="how many candidates are offered side by side; one pass of the level above judges them all",
)
WINDOW = Whole(
    name="window",
    place=56,
    counts=DRAFTER,
    rides=True,
    noted="window of {}",
    low=0,
    high=MAX_COLUMNS,
    tip="columns of the lookahead window: each pass of the level above includes it and gives one n-gram per column; "
    "0: no window",
)
N = Whole(
    name="n",
    place=57,
    counts=DRAFTER,
    low=3,
    high=MAX_NGRAM,
    label="n-gram",
    noted="{}-grams",
    tip="tokens of an n-gram: the one looked up and those that follow it",
)
VOCAB = Whole(
    name="vocab",
    place=94,
    counts=DRAFTER,
    usual=0,
    low=0,
    high=MAX_VOCAB,
    label="head",
    tip="how many tokens this level's head can say: the most frequent ones and those that end a text; fewer cost less "
    "to read, the others come as corrections; 0: all",
)
TEXT = FileName(
    name="text",
    place=94,
    counts=DRAFTER,
    of=(VOCAB.name,),
    noted="most frequent in {}",
    noun="database",
    listed="databases",
    suffix=".npz",
)
HEAD = (VOCAB, TEXT)
DRAFTS = (POLICY,)
VERIFIES = (*DRAFTS, TREE, GROW, REPLACE, FUSE, RULE, WITH, BONUS)
