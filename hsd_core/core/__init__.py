"""HSD itself: the recursion, what it decides by, what runs it, and the events that it writes. It names no system."""
