"""The systems of the field, a folder each: what one declares (`declaration.py`), its levels, how it is measured and
priced, and a README. Nothing else knows them by name: the registry imports what stands here. Importing a declaration
imports no torch."""
