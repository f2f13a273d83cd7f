"""The Planner tab: what is answered (`answer`), and what shows it (`view`)."""
