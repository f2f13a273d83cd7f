"""Sessions of onnxruntime, and one run's tensors bound to them, which are read and written in place."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping

import numpy as np
import onnxruntime as ort
import torch
from torch import Tensor

from hsd_core.models.compiled.graph import Graph
from hsd_core.models.compiled.node_profile import NodeProfile
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.threads import torch_with

KINDS: Mapping[torch.dtype, type] = {torch.float32: np.float32, torch.int32: np.int32, torch.int64: np.int64}
QUIET = 4  # only errors, which are raised anyway


def trim_heap() -> None:
    """Return freed memory to the system if the C library can: packing weights frees as much as they take."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
        if trim is not None:
            trim(0)


class Session:
    """A graph with its weights packed for the kernels. Read-only; runs may share it concurrently.

    Args:
        threads: of one pass.
        profile: records the time of every node.
    Attributes:
        nbytes: bytes of its weights.
    """

    def __init__(self, graph: Graph, threads: int, profile: NodeProfile | None = None) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = QUIET
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC  # the rest is in the graph
        options.enable_mem_pattern = False  # it would keep a plan for every number of slots
        # Threads spin between products, which saves 50 us a product; after a pass they would only occupy cores.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        values = [ort.OrtValue.ortvalue_from_numpy(array) for array in graph.tensors.values()]
        options.add_external_initializers(list(graph.tensors), values)
        self.nbytes = sum(array.nbytes for array in graph.tensors.values())
        if profile is not None:
            profile.enable(options)
        try:
            self.run = ort.InferenceSession(graph.model(), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors have no common class
            raise DecoderError(f"onnxruntime {ort.__version__} refuses the model: {str(error)[:300]}") from error
        if profile is not None:
            profile.watch(self.run)

    def bound(self) -> BoundInputs:
        return BoundInputs(self.run)


class BoundInputs:
    """One run's inputs and outputs of a session. It keeps a reference to every bound tensor."""

    def __init__(self, session: ort.InferenceSession) -> None:
        self._session, self._io = session, session.io_binding()
        self._held: dict[str, Tensor] = {}

    def input(self, name: str, tensor: Tensor) -> None:
        """Read an input from this tensor in every pass from now on."""
        self._io.bind_input(name, "cpu", 0, KINDS[tensor.dtype], tuple(tensor.shape), self._keep(name, tensor))

    def output(self, name: str, tensor: Tensor) -> None:
        """Write an output to this tensor in every pass from now on."""
        self._io.bind_output(name, "cpu", 0, KINDS[tensor.dtype], tuple(tensor.shape), self._keep(name, tensor))

    def __call__(self) -> None:
        torch_with(1)
        try:
            self._session.run_with_iobinding(self._io)
        except Exception as error:  # onnxruntime's errors have no common class
            raise DecoderError(f"onnxruntime {ort.__version__} cannot run the pass: {str(error)[:300]}") from error

    def _keep(self, name: str, tensor: Tensor) -> int:
        if tensor.device.type != "cpu" or not tensor.is_contiguous():
            raise ValueError(f"{name}: {tuple(tensor.shape)} on {tensor.device} is not contiguous memory of the CPU")
        self._held[name] = tensor
        return tensor.data_ptr()
