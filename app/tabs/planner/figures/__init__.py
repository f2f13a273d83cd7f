"""The Planner's figures."""
