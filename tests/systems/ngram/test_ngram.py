"""Claims about lookups: what the three databases answer, and in which order they are asked."""

import copy

import numpy as np
import pytest

from hsd_core.levels.lookup_trie import Found
from hsd_core.models.database_file import NgramError
from hsd_core.models.suffixes import Copied, SuffixIndex
from hsd_core.systems.ngram.build import count_ngrams
from hsd_core.systems.ngram.context_db import ContextDatabase
from hsd_core.systems.ngram.databases import REACH, Databases, LookupLimits
from hsd_core.systems.ngram.packing import pack, pack_windows, widest
from hsd_core.systems.ngram.text_db import TextDatabase

V = 100
LOOSE = {"c": LookupLimits(1, 3), "m": LookupLimits(1, 4, 1, 0.0), "s": LookupLimits(1, 3, 1, 0.0)}


def text_db(*documents):
    tokens = np.concatenate([np.asarray([*d, V]) for d in documents])
    return TextDatabase(tokens, None, {"vocab_size": V})


def model_db(*outputs):
    return count_ngrams([([90 + i], list(o)) for i, o in enumerate(outputs)], V, min_outputs=1)


def databases(order, prompt=(), **kwargs):
    made = Databases(order, reach=LOOSE, **kwargs)
    made.insert(prompt)
    return made


def first(context, tail, limit):
    """The continuation that a lookup would take."""
    return list(next(context.found(tail, limit))[0])


def said(found):
    return [(x.token, x.letter) for x in found]


def test_the_newest_continuation_wins():
    context = ContextDatabase()
    context.insert([1, 2, 3, 1, 2, 4])
    assert first(context, [1, 2], 1) == [4]
    assert [c[0] for c in context.continuations([1, 2])] == [4, 3]


def test_the_longest_suffix_wins_over_a_newer_short_one():
    context = ContextDatabase()
    context.insert([1, 2, 3, 50, 9, 3, 60])
    assert first(context, [9, 3], 1) == [60]
    assert first(context, [1, 2, 3], 1) == [50]
    assert first(context, [7, 7, 3], 1) == [60]


def test_a_full_key_drops_the_least_recently_used_continuation():
    context = ContextDatabase(max_key=1, max_continuations=2)
    context.insert([1, 10, 1, 11])
    assert [c[0] for c in context.continuations([1])] == [11, 10]
    context.insert([1, 10])  # a hit moves 10 to the newest end ...
    assert [c[0] for c in context.continuations([1])] == [10, 11]
    assert context.evictions == 0
    context.insert([1, 12])  # ... so 11 is the one to go
    assert [c[0] for c in context.continuations([1])] == [12, 10]
    assert context.evictions == 1


def test_seven_continuations_a_key_are_kept_by_default():
    context = ContextDatabase(max_key=1)
    for token in range(10, 20):
        context.insert([1, token])
    assert [c[0] for c in context.continuations([1])] == [19, 18, 17, 16, 15, 14, 13]


def test_a_lookup_hands_out_at_most_four_tokens_and_no_more_than_the_limit():
    context = ContextDatabase()
    context.insert([1, 2, 3, 4, 5, 6, 7])
    assert first(context, [1], 9) == [2, 3, 4, 5]
    assert first(context, [1], 2) == [2, 3]


def test_ngrams_that_span_two_inserts_are_filed():
    whole, parts = ContextDatabase(), ContextDatabase()
    whole.insert([1, 2, 3, 4, 5])
    for piece in ([1, 2], [3], [], [4, 5]):
        parts.insert(piece)
    for key in ([2], [1, 2], [2, 3], [1, 2, 3], [2, 3, 4]):
        assert whole.continuations(key) == parts.continuations(key) != []


def test_inserts_and_evictions_are_counted():
    made = databases("c", [1, 2, 3, 4])
    assert made.counts()["inserts"] == 1 + 2 + 3  # keys of 1; 1 and 2; 1, 2 and 3 tokens
    assert made.counts()["evictions"] == 0


def test_lookups_are_chained_and_stop_at_a_miss():
    made = databases("m", model_db=model_db([1, 2, 3, 4]))
    assert said(made.guess([1], 9)) == [(2, "m"), (3, "m"), (4, "m")]
    assert said(made.guess([1], 2)) == [(2, "m"), (3, "m")]
    assert made.counts()["misses"] == 1


def test_a_miss_at_the_first_token_gives_nothing():
    made = databases("cms", [1, 2, 3], model_db=model_db([1, 2]), text_db=text_db([1, 2]))
    assert made.guess([77], 4) == []
    assert made.guess([], 4) == []
    assert made.counts()["misses"] == 2


def test_no_token_is_guessed_at_limit_zero():
    made = databases("c", [1, 2, 1, 2])
    assert made.guess([1], 0) == []
    assert made.counts()["misses"] == 0


def test_a_chain_crosses_databases_and_names_the_one_that_answered():
    made = databases("cms", [1, 2], model_db=model_db([2, 3]), text_db=text_db([3, 4]))
    assert said(made.guess([1], 9)) == [(2, "c"), (3, "m"), (4, "s")]


@pytest.mark.parametrize("order", ["c", "m", "s", "cm", "mc", "cms", "smc", "sc"])
def test_the_first_database_of_the_order_answers(order):
    made = databases(order, [1, 10], model_db=model_db([1, 20]), text_db=text_db([1, 30]))
    first = order[0]
    assert said(made.guess([1], 1)) == [({"c": 10, "m": 20, "s": 30}[first], first)]


def test_what_the_context_answers_names_the_place_that_it_repeats():
    made = databases("cm", [1, 2, 3, 4, 9], model_db=model_db([5, 6]))
    found = made.guess([7, 1, 2], 3)
    assert said(found) == [(3, "c"), (4, "c"), (9, "c")]
    assert [x.copied for x in found] == [Copied(2, 2, 1.0), Copied(3, 3, 1.0), Copied(4, 4, 1.0)]
    assert made.guess([5], 1) == [Found(6, "m", 1)]
    assert [x.key for x in found] == [2, 2, 2], "one lookup under one key"


def test_a_guess_changes_nothing_but_counters():
    made = databases("cms", [1, 2, 3, 1, 4, 2, 3], model_db=model_db([1, 2]), text_db=text_db([3, 4]))
    index, text = copy.deepcopy(made._context._index._places), list(made._context._index.text)
    context = [1, 2, 3]
    first = made.guess(context, 7)
    assert made.guess(context, 7) == first
    assert context == [1, 2, 3]
    assert made._context._index._places == index
    assert made._context._index.text == text


def test_a_guess_depends_on_the_past_only():
    """Tokens inserted later change later guesses only: a run cut short guessed the same until there."""
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 6, 60).tolist()
    long, guesses = databases("c"), []
    for at, token in enumerate(ids):
        guesses.append(long.guess(ids[:at], 5))
        long.insert([token])
    for cut in (7, 20, 41):
        fresh = databases("c", ids[:cut])
        assert fresh.guess(ids[:cut], 5) == guesses[cut]


def test_tentative_tokens_are_context_but_never_stored():
    made = databases("c", [1, 2, 3])
    made.guess([1, 2, 3, 50, 51, 50], 4)
    assert made.guess([50], 4) == []


def test_runs_share_static_databases_and_nothing_else():
    shared = model_db([1, 2])
    one, other = databases("cm", [5, 6], model_db=shared), databases("cm", model_db=shared)
    assert said(one.guess([5], 1)) == [(6, "c")]
    assert other.guess([5], 1) == []


@pytest.mark.parametrize("order", ["", "x", "cc", "cmx"])
def test_an_order_that_makes_no_sense_is_refused(order):
    with pytest.raises(NgramError, match="each of c, m, s at most once"):
        Databases(order, model_db([1, 2]), text_db([1, 2]))


@pytest.mark.parametrize("letter", ["m", "s"])
def test_a_missing_static_database_is_named(letter):
    with pytest.raises(NgramError, match=f"database {letter} is missing"):
        Databases("c" + letter)


def test_by_default_a_one_token_key_of_the_context_is_silent():
    made = Databases("c")
    made.insert([1, 2, 3])
    assert REACH["c"].min_key == 2
    assert made.guess([9, 1], 4) == []
    assert said(made.guess([1, 2], 4)) == [(3, "c")]


def test_the_text_answers_with_the_commonest_follower_and_ties_go_to_the_smallest_id():
    text = text_db([1, 2, 1, 3, 1, 3, 5, 9, 5, 8])
    ask = {"min_key": 1, "max_key": 3, "min_count": 1, "min_share": 0.0}
    assert text.find([1], **ask) == (3, 1)
    assert text.find([5], **ask) == (8, 1)


def test_the_text_takes_the_longest_suffix():
    text = text_db([1, 2, 3, 9, 2, 3, 8, 7, 2, 3, 8])
    ask = {"min_key": 1, "max_key": 3, "min_count": 1, "min_share": 0.0}
    assert text.find([7, 7, 2, 3], **ask) == (8, 3)
    assert text.find([1, 2, 3], **ask) == (9, 3)
    assert text.find([1, 2, 3], **{**ask, "max_key": 2}) == (8, 2)


def test_the_text_does_not_run_from_one_document_into_the_next():
    text = text_db([1, 2], [3, 4])
    ask = {"min_key": 1, "max_key": 3, "min_count": 1, "min_share": 0.0}
    assert text.find([2], **ask) is None
    assert text.find([4], **ask) is None
    assert text.find([3], **ask) == (4, 1)


def test_a_rare_or_doubtful_answer_of_the_text_is_passed_over():
    text = text_db([1, 2, 5], [1, 3, 5], [1, 3, 6])
    ask = {"min_key": 1, "max_key": 1}
    assert text.find([1], **ask, min_count=2, min_share=0.6) == (3, 1)
    assert text.find([1], **ask, min_count=3, min_share=0.0) is None
    assert text.find([1], **ask, min_count=1, min_share=0.7) is None


def test_text_lookup_agrees_with_reading_the_whole_text():
    rng = np.random.default_rng(1)
    ids = rng.integers(0, 5, 400).tolist()
    text = text_db(ids)
    for at in range(100):
        key = rng.integers(0, 5, 1 + at % 3).tolist()
        size = len(key)
        after = [ids[i + size] for i in range(len(ids) - size) if ids[i : i + size] == key]
        commonest = min(set(after), key=lambda t: (-after.count(t), t)) if after else None
        expected = None if commonest is None else (commonest, size)
        assert text.find(key, min_key=size, max_key=size, min_count=1, min_share=0.0) == expected


def test_a_doubtful_long_key_silences_a_sure_short_one():
    """The short key knows less: that 2 is mostly followed by 5 does not hold behind 1."""
    outputs = ([1, 2, 5], [1, 2, 6], [1, 2, 7], [9, 2, 5], [8, 2, 5], [7, 2, 5], [6, 2, 5])
    for made in (model_db(*outputs), text_db(*outputs)):
        ask = {"min_key": 1, "max_key": 2, "min_count": 1}
        assert made.find([2], **ask, min_share=0.7) == (5, 1)
        assert made.find([1, 2], **ask, min_share=0.7) is None
        assert made.find([1, 2], **ask, min_share=0.3) == (5, 2)


def test_packed_keys_keep_the_order_of_their_ids():
    assert widest(49152) == 4
    assert widest(151936) == 3
    assert pack([1, 2, 3], 100) == 10203
    assert pack_windows(np.array([1, 2, 3, 4]), 2, 100).tolist() == [102, 203, 304]
    top = np.full(4, 49152)
    assert pack_windows(top, 4, 49153).tolist() == [pack(top.tolist(), 49153)]


def test_a_sequence_that_is_known_in_several_ways_is_offered_once():
    prompt = [1, 2, 3, 4, 9, 8, 0, 2, 3, 5, 9, 7, 2, 3, 6, 9]
    made = databases("c", prompt)
    found = made.guesses([7, 1, 2], 3, 7)
    assert [[x.token for x in sequence] for sequence in found] == [[3, 4, 9], [3, 6, 9]]
    one = databases("c", prompt)
    assert one.guess([7, 1, 2], 3) == found[0]


def test_the_text_lists_what_follows_a_key_commonest_first():
    text = text_db([1, 2, 1, 3, 1, 3, 5], [1])
    assert text.continuations([1]) == [(3, 2), (2, 1)]
    assert text.continuations([5]) == text.continuations([77]) == []
    assert text.continuations([1] * text.max_key) == [], "no key is as long as the window that sorts the text"


def test_sequences_come_from_every_database_in_turn_until_there_are_enough():
    made = databases("cms", [1, 10, 1, 11], model_db=model_db([1, 20]), text_db=text_db([1, 30], [1, 31], [1, 31]))
    every = [(11, "c"), (10, "c"), (20, "m"), (31, "s"), (30, "s")]
    for count in (2, 4, 7):
        assert [said(x)[0] for x in made.guesses([1], 1, count)] == every[:count]


def test_of_one_key_no_more_places_are_kept_than_there_is_room_for_and_the_oldest_goes() -> None:
    index = SuffixIndex(1, 1, kept=2)
    for token in (5, 1, 5, 2, 5, 3, 5):
        index.add(token)
    assert [index.text[place] for place in index.behind([5])] == [2, 3]
    assert index.evictions == 1
