"""The latency-optimal plan: a shortest path in the graph of levels and block lengths."""
