"""What `metrics` counts with, event by event: of one level, and of two lanes that work at the same time."""
