"""Scaling laws of acceptance (Scylla, arXiv 2505.07858): one draft on ever more of one file, and in other sizes.

plan -> sweep (train, judge) -> a file of raw results -> law (a line over log2 of the tokens) -> worth (tokens/s).
"""
