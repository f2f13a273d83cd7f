"""Where time goes: a level's pass by parts, compared with the machine's limits, and a round of a stack."""
