"""The trace: the append-only, versioned record of one run. Everything else reads it.

What it holds stands in `core/events`. `schema`: the same for other programs. `codec`, `file`: as JSON, as files.
`convert`: from an earlier version. `checks`: the identities that every trace satisfies. `metrics`, `comparison`: what a
trace says. `pieces`: the bytes of its ids. `naming`: how rounds are named to people.
"""
