"""Trained drafts: small weights that read a target's hidden states or embeddings and share its head."""
