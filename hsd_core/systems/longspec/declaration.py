"""A draft whose memory does not grow (LongSpec). It is a nano draft, named by @id=, and adds no level of its own."""
