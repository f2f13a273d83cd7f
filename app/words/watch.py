"""What the server's figures are, for those who watch over it."""

from __future__ import annotations

MCP_REFUSED = "an MCP message was not served (%s, line %d)"
RUNS = "Runs, races and measurements that are over, by how they ended"
REFUSED = "Runs that found no place, or lost it"
ERRORS = "Runs that ended in an error"
TOKENS = "Tokens that the target committed"
ROUNDS = "Rounds: verifications by the target"
JUDGED = "Places of drafted tokens that a level judged"
ACCEPTED = "Of them, those at which it accepted one"
WAITS = "Time that runs waited for their turn"
TURNS = "Time that runs took of the engine"
WAITING = "Runs that wait for their turn"
PAGE_RESTARTS = "Times that the page's process was started again"
RESTARTS = "Times that the engine was started again"
STATE = "1 for the state that the engine is in"
MEMORY = "Memory of a process"
