"""Commands of retrieval: a target's store of a text, documents before a prompt."""
