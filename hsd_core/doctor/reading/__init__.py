"""Outputs of engines as counts: `inputs` finds out what a text is, the others read one kind each into `Seen`."""
