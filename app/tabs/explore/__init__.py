"""The Explore tab: the Stage, recordings, and files that visitors bring."""
