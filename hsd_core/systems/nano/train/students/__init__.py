"""The models that are trained: one shape for every draft, in float32, with what they start from."""
