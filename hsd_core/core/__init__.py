"""HSD itself: the recursion, its rules and policies, its driver, and the events of a run. It names no system."""
