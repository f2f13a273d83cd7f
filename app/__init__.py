"""The page: it reads events and knows no tensors, so nothing here imports torch."""
