"""Commands about other engines: what they print of their speculation, measuring one that runs, judging a pair."""
