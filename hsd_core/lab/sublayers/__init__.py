"""Which sublayers a draft of the target itself can do without: read, searched greedily, priced."""
