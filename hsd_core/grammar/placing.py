"""Checks of a stack: levels in positions where they cannot work, and the messages that refuse a stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from hsd_core.grammar import LevelSpec, StackError, fan_of, kind_of, lanes_of, rule_of, scheduler_of, variants
from hsd_core.grammar.key import depths_of
from hsd_core.grammar.keys import DTYPE, MAX_DEPTH, MAX_NODES, TREE, WITH
from hsd_core.grammar.kind import BELOW, LAST

# Messages for stacks; messages for the values of keys are those of the keys.
REASONS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "stack {text} has an empty level; write for example ngram:2,int8:8,target",
        "many": "stack has {levels} levels; {most} is the limit",
        "level": "unknown level {name}; levels are {known}",
        "key": "{name}: cannot read @{option}; keys are {known}, written @key=value",
        "heed": "{name}: @{key} means nothing here; its keys are {known}",
        "twice": "{name}: {key} is given twice; keep one @{key}=",
        "belongs": "{name}: @{key} belongs to the rule {rule}; write {name}@rule={rule}@{key}={value}",
        "timed": "{name}: @{key} belongs to @with={schedule}; write {name}@with={schedule}@{key}={value}",
        "instead": "{name}: @{key} and @{other} both say what its tree is like; leave one of them out",
        "replace": "{name}: @replace says how the tokens of a tree are drawn; write {name}@tree=2.1@replace=1 "
        "or leave it out",
        "last": "the last level is {name}; end the stack with target",
        "block": "{name}:{block} is the last level, which hands nothing up; write {name}",
        "below": "{name} stands below another level; it must be the last one",
        "verify": "{name} has no distribution and cannot verify; it can only be the first level",
        "follows": "{name} looks in a cache of the target's store; write {target}@knn=store or leave {name} out",
        "branches": "{name}: rule {rule} judges one candidate, and {below} offers {count} side by side; leave "
        "@rule={rule} or @{key}={value} out",
        "deep": "{name}:{block} is {block} deep and @tree={tree} is {depth}; leave :{block} out",
        "alone": "{name}@with={schedule} verifies nothing; put a level below it, as in "
        "{like}:4,{name}@with={schedule}, or leave @with={schedule} out",
        "inner": "{name}@with={schedule}: lanes that meet are two, the last level's and one for all below it; write "
        "@with={schedule} at the last level, or @with=ahead here",
        "lowest": "{name}@with={schedule} verifies nothing, as no level stands below it; leave @with={schedule} out",
        "mixed": "{name}@with={schedule} is for two lanes, and {other}@with=ahead makes one more; write @with=ahead at "
        "both, or leave it out at {other}",
        "model": "{name}@with={schedule} computes rows of the model, and {below} drafts with the same model meanwhile; "
        "write @with=ahead, where {name} asks its store alone",
        "beside": "{name}@with={schedule} takes one candidate, and {below} offers {count} side by side; leave "
        "@with={schedule} or @{key}={value} out",
        "rides": "{name}@with={schedule} computes nothing for a window, and {below} has one; leave "
        "@with={schedule} out or write {below}@{key}=0",
        "at_once": "{name}@with={schedule} verifies whatever lies there, and rule {rule} of {judge} weighs whole "
        "blocks, whose length may not hang on that; write @rule=tokenwise, or @with=pearl at the last level",
        "grows": "{name}@with={schedule} has the level below it keep several candidates ready, and {below} cannot grow "
        "them; put a model there, as in nano:4,{name}@with={schedule}, or write @with=pearl",
        "between": "{name}@with={schedule} takes its candidates from one level, and there are {count} below it; leave "
        "all but {below} out, or write @with=pearl",
        "shaped": "{name}@with={schedule} says itself how many candidates {below} keeps ready; write @width= there and "
        "leave @{key}={value} out",
        "side": "{name}@with={schedule} judges several candidates for a place, and rule {rule} judges one; write "
        "@rule=match or leave @rule={rule} out",
        "wide": "{name}@with={schedule}: {width} sequences of {block} are {nodes} tokens, and {most} is the most; "
        "write {below}:{fits} or a smaller @width=",
        "reckoned": "{name}@with={schedule}: its times are reckoned, and here measured ones are compared; leave "
        "@with={schedule} out, see one run of it alone, or give the command bench --reckoned",
        "depth": "{name} needs the number of layers that it runs; write for example {name}:2@at=4",
        "rise": "{name} at {at} stands above {where} over the same weights; exits rise in depth up the stack",
        "whole": "the whole model",
        "exit": "an exit at {at}",
    }
)


def check_order(specs: Sequence[LevelSpec]) -> None:
    """Checks that do not depend on the weights. A level without a dtype counts as having one of its own.

    Raises:
        StackError: a level stands where it cannot work.
    """
    for _, error in misplaced(specs):
        raise error


def misplaced(specs: Sequence[LevelSpec]) -> Iterator[tuple[int, StackError]]:
    """The levels in positions where they cannot work, and the reasons."""
    *below, last = specs
    if kind_of(last).placement.stands == BELOW:
        yield len(below), fault("last", name=repr(last.name))
    if last.block is not None:
        yield len(below), fault("block", name=last.name, block=last.block)
    for i, spec in enumerate(below):
        if kind_of(spec).placement.stands == LAST:
            yield i, fault("below", name=spec.name)
        if any(last.get(key) is None for key in kind_of(spec).shares.follows):
            yield i, fault("follows", name=spec.name, target=last.name)
    for i, spec in enumerate(specs):
        if i and not kind_of(spec).placement.verifies:
            yield i, fault("verify", name=spec.name)
    yield from _check_branches(specs)
    yield from _check_depths(below, last)
    yield from _check_times(specs)
    for i, spec in enumerate(specs):
        yield from ((i, error) for error in _check_written(spec, specs))


def _check_branches(specs: Sequence[LevelSpec]) -> Iterator[tuple[int, StackError]]:
    """A rule for chains may not stand above a level that drafts a tree."""
    below, *above = specs
    if not above or rule_of(above[0]).trees or not (fan := fan_of(below)):
        return
    key, count = fan
    judge, value = above[0], key.write(below[key])
    of = {"name": judge.name, "rule": judge.rule, "below": below.name}
    yield 1, fault("branches", **of, count=count, key=key.name, value=value)


def check_measured(specs: Sequence[LevelSpec]) -> None:
    """Refuses stacks whose times are computed, where measured times are compared.

    Raises:
        StackError: levels of the stack overlap, and the times of overlapping levels are computed.
    """
    for spec in specs:
        if schedule := spec.values.get(WITH.name):
            raise fault("reckoned", name=spec.name, schedule=schedule)


def _check_times(specs: Sequence[LevelSpec]) -> Iterator[tuple[int, StackError]]:
    """Overlapping levels draft chains, and several lanes need a scheduler for inner levels."""
    top, lanes = len(specs) - 1, lanes_of(specs)
    for i, spec in enumerate(specs):
        of = {"name": spec.name, "schedule": spec[WITH]}
        if lanes[i] and rule_of(spec).at_once and (free := _free_below(specs, i)):
            yield i, fault("at_once", name=free.name, schedule=free[WITH], judge=spec.name, rule=spec.rule)
        if scheduler_of(spec).make is None:
            continue
        if i < top and not i:
            yield i, fault("lowest", **of)
        elif i < top and not scheduler_of(spec).inner:
            yield i, fault("inner", **of)
        elif not top:
            yield i, fault("alone", **of, like="nano" if scheduler_of(spec).nodes else "ngram")
        elif lanes[i] > 1 and not scheduler_of(spec).inner:
            other = next(one for one in specs if scheduler_of(one).make)
            yield i, fault("mixed", **of, other=other.name)
        elif kind_of(specs[i - 1]).shares.follows and scheduler_of(spec).by_count:
            yield i, fault("model", **of, below=specs[i - 1].name)
        elif scheduler_of(spec).nodes:
            yield from ((i, error) for error in _check_ready(specs, of))
        else:
            if fan := fan_of(specs[0]):
                key, count = fan
                yield (
                    i,
                    fault(
                        "beside", **of, below=specs[0].name, count=count, key=key.name, value=key.write(specs[0][key])
                    ),
                )
            if rides := next((key for key in kind_of(specs[0]).keys if key.rides and specs[0].get(key)), None):
                yield i, fault("rides", **of, below=specs[0].name, key=rides.name)


def _free_below(specs: Sequence[LevelSpec], i: int) -> LevelSpec | None:
    """The first level, up to this one, whose number of verified tokens is not bounded by counts."""
    return next((one for one in specs[: i + 1] if scheduler_of(one).make and not scheduler_of(one).by_count), None)


def _check_ready(specs: Sequence[LevelSpec], of: Mapping[str, object]) -> Iterator[StackError]:
    """Several candidates are kept ready by a single level that grows trees, and judged by a rule for trees."""
    below, *between, target = specs
    kind, schedule = kind_of(below), scheduler_of(target)
    if between:
        yield fault("between", **of, count=len(specs) - 1, below=between[-1].name)
        return
    if TREE not in kind.keys or (kind.written and TREE.name in kind.written.without):
        yield fault("grows", **of, below=below.name)
    elif fan := fan_of(below):
        key, _ = fan
        yield fault("shaped", **of, below=below.name, key=key.name, value=key.write(below[key]))
    if not rule_of(target).trees:
        yield fault("side", **of, rule=target.rule)
    block = below.block or kind.placement.block
    if (nodes := schedule.most_nodes(target.values, block)) > MAX_NODES:
        wide = nodes // block
        yield fault(
            "wide", **of, width=wide, block=block, nodes=nodes, most=MAX_NODES, below=below.name, fits=MAX_NODES // wide
        )


def _check_depths(below: Sequence[LevelSpec], target: LevelSpec) -> Iterator[tuple[int, StackError]]:
    """Levels over the same weights run more layers the higher they stand."""
    deepest: dict[str | None, int] = {}
    for i, spec in enumerate(below):
        reads = kind_of(spec).shares.reads
        if reads is None or reads.depth == 0:
            continue
        weights = reads.weights or spec.get(DTYPE) or target.get(DTYPE)
        if reads.depth is None:
            deepest[weights] = MAX_DEPTH + 1
            continue
        if not (depths := depths_of(spec.values.get(str(reads.depth)))):
            yield i, fault("depth", name=spec.name)
            continue
        if depths[0] <= (reached := deepest.get(weights, 0)):
            where = REASONS["whole"] if reached > MAX_DEPTH else REASONS["exit"].format(at=reached)
            yield i, fault("rise", name=spec.name, at=depths[0], where=where)
        deepest[weights] = max(reached, depths[-1])


def _check_written(spec: LevelSpec, specs: Sequence[LevelSpec]) -> Iterator[StackError]:
    """A kind that is written as another one is the only level below the target whose weights it runs."""
    for _, own in variants():
        if spec.values.get(own.key) != own.value:
            continue
        dtype = specs[-1].get(DTYPE)
        if spec.name != own.name or len(specs) != 2 or (spec.get(DTYPE) or dtype) != dtype:
            yield StackError(f"{spec.name}: {own.wrong}")
        for key, why in own.without.items():
            if key in spec.values and spec.values[key] != own.takes.get(key):
                yield StackError(f"{spec.name}: {why}")


def fault(what: str, **values: object) -> StackError:
    return StackError(REASONS[what].format(**values))
