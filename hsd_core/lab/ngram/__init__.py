"""How the static databases of n-grams are made."""
