"""Where the time goes: of a level's pass by its parts, beside the machine's limits, and of a round of a stack."""
