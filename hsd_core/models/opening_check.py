"""What is measured of a model when it is opened: that drafts below it change nothing of what it writes.

A text is exact where a row hangs on what stands before it alone, and where what was rejected leaves nothing behind. A
config does not say so reliably; a few rows of the model itself do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hsd_core.models.decoder_protocol import QUANTISED, Decoder, DecoderError
from hsd_core.models.machine import out_of_memory
from hsd_core.models.one_pass import Pass

if TYPE_CHECKING:
    from torch import Tensor

ROWS = 8
# Of the spread of a row's logits, by what the weights are kept as: products of four rows and of eight round otherwise.
# What this looks for, a row that sees what comes behind it or a state that is not taken back, changes far more.
ROUNDING = {"float32": 1e-3}
COARSE = 0.05


def check_opened(decoder: Decoder) -> Decoder:
    """The decoder, which can be a level.

    Raises:
        DecoderError: a later token changes an earlier row, a cache that was taken back is not what it was, or a pass
            fails.
    """
    try:
        _check(decoder)
    except DecoderError:
        raise
    except Exception as error:  # a family's own code, of which some takes no pass of several rows behind a cache
        if out_of_memory(error):
            raise
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise DecoderError(f"the model's own forward fails as a level runs it ({said}); use another model") from error
    return decoder


def _check(decoder: Decoder) -> None:
    rows = min(ROWS, decoder.max_positions)
    half = rows // 2
    if not half:
        return
    ids = [(k + 1) * decoder.vocab_size // (rows + 1) for k in range(rows)]
    changed = [*ids[:-1], ids[0]]
    whole = decoder.forward(Pass(ids, 0, rows), decoder.new_cache(rows))
    cache = decoder.new_cache(rows)
    other = decoder.forward(Pass(changed, 0, rows), cache)
    if cache.length != rows:
        raise DecoderError(f"the model keeps {cache.length} of {rows} positions that it read; {_FULL}")
    most = ROUNDING.get(decoder.dtype, COARSE)
    # passes of one size: but for a mixture of experts, which sorts its rows, they are equal to the last bit
    if float(_apart(whole[:-1], other[:-1]).max()) > (COARSE if decoder.dtype in QUANTISED else most):
        raise DecoderError(
            "a later token changes the model's earlier rows: it is an encoder, or reads both ways, and no draft can be "
            "checked by it; use a causal model (of a BERT: one saved with is_decoder)"
        )
    again = decoder.forward(Pass(ids[half:], half, rows - half), cache)
    # most of the rows: a router of experts may choose otherwise in one of them, where two are nearly as good
    if float(_apart(whole[half:], again).median()) > most:
        raise DecoderError(
            f"after {rows - half} positions were taken back the model does not give the rows that it gave before: its "
            f"cache cannot roll back; {_FULL}"
        )


_FULL = "use a model with full attention and a cache of keys and values"


def _apart(one: Tensor, other: Tensor) -> Tensor:
    """(n,) the largest difference in each row, of the spread of its logits; 0 where they are not finite."""
    spread = one.amax(-1) - one.amin(-1)
    return ((one - other).abs().amax(-1) / spread).nan_to_num(0.0, 0.0)
