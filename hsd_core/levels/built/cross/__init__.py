"""A draft model with another tokenizer than the target's."""
