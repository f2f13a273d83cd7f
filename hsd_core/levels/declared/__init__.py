"""What a kind of level, a rule and a stop policy declare of themselves, and what a level is as it is written."""
