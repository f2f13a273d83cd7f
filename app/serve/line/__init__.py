"""Who waits, in which order and for how long; the runs that the server knows."""
