"""What a plan costs: the recursion over blocks, closed forms, finite texts."""
