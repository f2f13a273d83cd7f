"""Makes stores of texts, and generates with documents before a prompt."""
