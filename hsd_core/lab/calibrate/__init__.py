"""Calibration: a profile of a preset's levels, measured on this device.

    candidates.py   which levels, and why the others are left out
    texts.py        what the target writes after the calibration prompts
    reading.py      one teacher-forced pass of every level over these texts
    overlap.py      acceptances: pairs, how the token came to be, its place in a draft
    offers.py       the chance that an offered tree is accepted, down along a text
    several.py      levels that offer several sequences, met at work
    tally.py        ratios of sums over texts, with bootstrap intervals
    timing.py       costs: verifications, drafts, lookups, in a rotating order
    rounds.py       the engine's time per round outside the levels, from real runs
    profiling.py    all of it: `calibrate`
    cache.py        profiles kept on this machine and shipped ones; needs no torch

Acceptance by overlap of two distributions: Leviathan et al. 2023 (arXiv 2211.17192), theorem 3.5. That it depends on
how a token came to be is measured, not assumed away.
"""
