"""The trace: the append-only, versioned record of one run. Everything else reads it.

What it holds stands in `core/events`. `schema`: the same for other programs. `codec`: as JSON, also from an
earlier version; `file`: as files. `checks`: the identities that every trace satisfies. `metrics`, `meters`,
`comparison`: what a trace says. `pieces`: the bytes of its ids. `conventions`: what all readers say alike.
"""
