"""Distillation of drafts (early exits, nano models) from a target: `python -m hsd_core train`.

data -> features (the target's hidden states, once) -> student -> loop -> a file in assets/drafts/.
"""
