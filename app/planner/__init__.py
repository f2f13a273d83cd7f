"""The Planner tab: what may be asked (`request`), what is answered (`answer`), and what shows it (`view`)."""
