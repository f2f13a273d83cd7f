"""Texts as counts: `inputs` is the door, `lines/` finds figures, `told` makes counts of them, `seen` adds them up."""
