"""The training data: what the target wrote, as token ids and hidden states, in batches."""
