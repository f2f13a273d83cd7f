"""A kind of level: what it is called and drawn like, and what builds it."""

from hsd_core.grammar.keys import VERIFIES
from hsd_core.grammar.kind import SKY, Kind, KindText, Look


def build(spec, site):
    import torch

    from hsd_core.systems.table.table_level import TableLevel

    size = site.tokenizer.vocab_size
    level = TableLevel(lambda prefix: torch.full((size,), 1 / size), size, name="even", label="any token")
    level.about.kind = "even"  # in the trace: whose letter and colour its tokens have
    return level


KINDS = (
    Kind(
        name="even",
        order=15,
        look=Look("V", SKY, "dashed"),
        text=KindText(title="even", about="It finds every token as likely.", help="It has no keys."),
        keys=VERIFIES,
        offer=lambda kind, preset: [kind.entry("any token")],
        build=build,
    ),
)
