"""Profiles: costs, acceptances and lengths of texts of levels; read from and written to JSON."""
