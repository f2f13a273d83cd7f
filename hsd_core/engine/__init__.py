"""The algorithm and what runs it: trees, rules, the recursion, drivers."""
