"""Plans that change between the rounds of a run, and what is said of them."""
