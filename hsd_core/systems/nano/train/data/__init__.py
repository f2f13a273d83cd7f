"""What a draft learns from: what its target wrote, as token ids and hidden states, in batches."""
