"""The systems of the field, one folder each: its declaration (`declaration.py`), its levels, how it is measured and
priced, and a README. No other code names a system: the registry imports every folder here. Importing a declaration does
not import torch."""
