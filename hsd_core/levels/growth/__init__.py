"""What a tree of drafts is grown from: how many children its forks have, and what was looked up beside it."""
