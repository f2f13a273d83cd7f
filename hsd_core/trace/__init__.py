"""The trace: the append-only, versioned record of one run. Everything else reads it.

`events`: what there is. `schema`: the same for other programs. `codec`, `file`: as JSON, as files. `checks`: the
identities that every trace satisfies. `metrics`, `comparison`: what a trace says. `pieces`: the bytes of its
ids. `naming`: how rounds are named to people. `typed`: JSON with types, and what a stranger's file may hold.
"""
