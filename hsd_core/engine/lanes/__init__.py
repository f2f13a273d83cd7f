"""Levels that work at the same time: the drafter's tape, and the drivers of two lanes and of more.

When a lane starts what, a scheduler of `levels/schedulers` says.
"""
