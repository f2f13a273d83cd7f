"""Commands about other engines: what they print of their speculation."""
