"""Calibration: a profile of a preset's levels, measured on this device.

    candidates.py        the levels to measure, and why others are left out
    reading.py           one teacher-forced pass of every level over the target's texts (texts/written_texts.py)
    acceptance.py        acceptances of pairs, of forks, of lookups
    measured_in_runs.py  levels that offer several sequences, or end their own drafts
    isolated_costs.py    verifications and drafts timed alone, in a rotating order
    run_costs.py         the same, and lookups, in runs of real stacks; the engine's time outside the levels
    profiling.py         the whole: `calibrate`, and `calibrate_default` in about 20 seconds

Acceptance by overlap of two distributions: Leviathan et al. 2023 (arXiv 2211.17192), theorem 3.5. Its dependence on the
origin of a token is measured.
"""
