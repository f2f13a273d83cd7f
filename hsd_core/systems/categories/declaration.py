"""A question to a profile, and no level."""
