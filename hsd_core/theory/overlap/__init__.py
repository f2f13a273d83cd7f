"""What levels gain that work at the same time: the target verifies while what stands below it drafts on.

    below.py           the blocks of whatever drafts, a whole stack too: how many tokens, after how many ms
    verdicts.py        any schedule in the long run, walked from verdict to verdict
    on_two_lanes.py    the price of a stack with @with= in a profile, and which levels cannot be there

No schedule is known here by name: each is asked as the driver asks it.
"""
