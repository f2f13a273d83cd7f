"""The schedulers: when the levels on both sides of a verifier work. Each file beside this one declares some, as
`SCHEDULERS`, and nothing else knows them by name.

    orders.py       what a scheduler sees and says, and what it says of itself
    sync.py         one level after another
    pearl.py, ...   at the same time
    reach.py        keys that several have

To add one, add a file (README.md of hsd_core says what it holds). Importing this package imports no torch.
"""
