"""What a running engine prints of its speculation, read, turned into a profile and diagnosed.

`reading/`: from a text to counts, whatever engine printed it and whatever stands around it. `draft_profile`: acceptance
by position and times, with intervals, and what is missing. `engines`: what each calls its settings. Texts and numbers
only: no weights, no network.
"""
