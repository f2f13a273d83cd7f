"""Reads what a running engine prints about its speculation, turns it into a profile and diagnoses it.

`reading/`: from a text to counts, whatever engine printed it and whatever text surrounds it. `draft_profile`:
acceptance by position and times, with intervals, and what is missing. `engines` and `drafters`: what each engine calls
its settings. Texts and numbers only: no weights, no network.
"""
