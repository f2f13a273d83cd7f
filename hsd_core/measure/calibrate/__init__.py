"""Calibration: a profile of a preset's levels, measured on this device.

    candidates.py      which levels, and why the others are left out
    reading.py         one teacher-forced pass of every level over what the target wrote (texts/written_texts.py)
    overlap.py         acceptances: pairs, how the token came to be, its place in a draft
    offers.py          the chance that an offered tree is accepted, down along a text, and one of several tokens
    over_target.py     levels that say of themselves that they stand on the target's own work (`over_target`)
    at_work.py         levels that are met in runs: those that offer several sequences, or end their own drafts
    costs/             verifications, drafts and lookups: alone in a rotating order (timing.py), in runs of real stacks
                       with the engine's time outside the levels (short_runs.py), the one scaled to the other
                       (scaling.py)
    assembled.py       the profile of what was counted and timed
    profiling.py       all of it: `calibrate`, and `calibrate_default` in about 20 seconds

Acceptance by overlap of two distributions: Leviathan et al. 2023 (arXiv 2211.17192), theorem 3.5. That it depends on
how a token came to be is measured, not assumed away.
"""
