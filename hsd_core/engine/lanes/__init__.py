"""Levels that work at the same time: the drafter's tape and the driver of two lanes.

When a lane starts what, a scheduler of `levels/schedulers` says.
"""
