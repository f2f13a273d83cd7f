"""The latency of levels that work at the same time: the target verifies while the levels below it go on drafting.

    below.py           the blocks of the levels below the target: tokens and ms
    verdicts.py        any schedule in the long run, as a Markov chain from verdict to verdict
    on_two_lanes.py    the prediction for a stack with @with= in a profile, and the levels that cannot be used

Schedulers are called exactly as the driver calls them; none is treated by name.
"""
