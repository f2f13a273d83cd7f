"""What a GPU needs in addition to `lean`: recorded passes, and copies with one wait."""
