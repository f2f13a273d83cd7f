"""What a level sees of another level's cache."""
