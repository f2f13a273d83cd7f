"""`lean`: our own readable forward pass, its layers, weights and masks."""
