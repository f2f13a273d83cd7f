"""Scaling laws of acceptance (Scylla, arXiv 2505.07858): one draft trained on growing shares of a file, and in other
sizes.

plan -> sweep (train, judge) -> a file of raw results -> law (a line over log2 of the tokens) -> worth (tokens/s).
"""
