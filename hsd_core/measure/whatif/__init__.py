"""What-if runs: the real engine over levels that nobody has weights for.

The recursion, its events and its caches are the engine's own; what is made up is what a level says (`world`) and how
long it takes (`levels`): both follow a profile of costs and acceptances. Every trace of it says so in its header.
"""
