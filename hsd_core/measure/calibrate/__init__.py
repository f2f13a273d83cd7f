"""Calibration: a profile of a preset's levels, measured on this device.

    candidates.py        which levels, and why the others are left out
    reading.py           one teacher-forced pass of every level over what the target wrote (texts/written_texts.py)
    acceptance.py        acceptances of pairs, of tokens of a fork, of what lookups offer
    measured_in_runs.py  levels that offer several sequences, or end their own drafts
    lone_costs.py        verifications and drafts alone, in a rotating order
    run_costs.py         the same and lookups in runs of real stacks, with the engine's time outside the levels
    profiling.py         all of it: `calibrate`, and `calibrate_default` in about 20 seconds

Acceptance by overlap of two distributions: Leviathan et al. 2023 (arXiv 2211.17192), theorem 3.5. That it depends on
how a token came to be is measured, not assumed away.
"""
