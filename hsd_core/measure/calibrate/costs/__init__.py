"""What levels cost: alone (`timing`), in runs of stacks (`short_runs`), the one scaled to the other (`scaling`)."""
