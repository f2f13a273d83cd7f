"""Decoders: the models behind the levels. `load_decoder` opens a folder of weights as one."""

from hsd_core.models.decoder_protocol import QUANTISED, Decoder, DecoderError
from hsd_core.models.loading import DTYPES, KINDS, known_device, load_decoder
