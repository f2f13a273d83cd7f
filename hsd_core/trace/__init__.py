"""The trace: the append-only, versioned record of one run. Everything else reads it.

Its events are declared in `core/events`. `schema`: the same for other programs. `codec`: to JSON and back; `earlier`:
from earlier versions; `file`: as files. `checks`: the identities that every trace satisfies. `metrics`, `meters`,
`comparison`: figures of a run. `pieces`: the bytes of its ids. `conventions`: definitions that all readers share.
"""
