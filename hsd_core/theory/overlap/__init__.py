"""What levels gain that work at the same time: the target verifies while what stands below it drafts on.

    lock_step.py       PEARL in closed form, and where it pays: drafting cost against acceptance
    openings.py        CARD and DuoDecoding in closed form: what several beginnings side by side save
    below.py           the blocks of whatever drafts, a whole stack too: how many tokens, after how many ms
    verdicts.py        any schedule in the long run, walked from verdict to verdict
    on_two_lanes.py    the price of a stack with @with= in a profile

Two lanes never gain more than (L + c) / max(L, c), so never more than 2, over the same passes one after another.
"""
