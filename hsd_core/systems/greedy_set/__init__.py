"""Greedy draft sets (Optimal multi-draft speculative decoding, arXiv 2502.18779)."""
