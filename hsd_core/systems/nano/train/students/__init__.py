"""The models in training: one class for every draft, in float32, and their initial weights."""
