"""Commands that search what a level is made of."""
