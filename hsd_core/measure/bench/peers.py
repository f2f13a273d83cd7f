"""Other programs for comparison: transformers and llama.cpp, greedy, with the same weights and number of threads; on a
GPU only transformers, in our target's precision.

Clocks start at the first token, so the prefill does not count; `PeerText.tokens` are those behind it. A peer that is
not installed, or cannot read the weights, is reported with the reason.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor

from hsd_core.measure.bench.side_by_side import BenchPeer, PeerText
from hsd_core.models.decoder_protocol import QUANTISED
from hsd_core.models.drafts.head import DraftHead
from hsd_core.models.gpu.transfer import awaited
from hsd_core.models.threads import model_threads, torch_with

if TYPE_CHECKING:
    from hsd_core.models.drafts.head import DraftHead
    from hsd_core.models.lean.decoder import LeanDecoder
    from hsd_core.pipeline import Pipeline


NEVER = -1e9  # a logit


@torch.inference_mode()
def nano_as_llama(nano: DraftHead, decoder: LeanDecoder) -> Any:
    """A `LlamaForCausalLM` in float32 on the CPU with a nano's dense weights.

    Args:
        nano: reads only the embeddings. decoder: its target, for embeddings and head rows.
    """
    from transformers import LlamaConfig, LlamaForCausalLM

    tensors, shape = load_file(nano.about.path), decoder.shape

    def dense(name: str) -> Tensor:
        return tensors[name].float() * tensors[f"{name}.scale"].float()[:, None]

    model: Any = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=shape.vocab_size,
            hidden_size=shape.hidden,
            intermediate_size=tensors["layers.0.down"].shape[1],
            num_hidden_layers=nano.layers,
            num_attention_heads=shape.heads,
            num_key_value_heads=shape.kv_heads,
            head_dim=shape.head_size,
            rms_norm_eps=shape.norm_eps,
            max_position_embeddings=shape.max_positions,
            rope_parameters={"rope_theta": shape.rope_theta, **shape.rope},
            tie_word_embeddings=False,
        )
    )
    model.lm_head = torch.nn.Linear(shape.hidden, shape.vocab_size)
    embedded = decoder.embed(range(shape.vocab_size)).float()
    ids, sizes = tensors["ids"].long(), [n * shape.head_size for n in (shape.heads, shape.kv_heads, shape.kv_heads)]
    head, bias = torch.zeros(shape.vocab_size, shape.hidden), torch.full((shape.vocab_size,), NEVER)
    head[ids], bias[ids] = decoder.head_rows(ids), 0.0
    weights = {
        "model.embed_tokens.weight": F.linear(F.rms_norm(embedded, (shape.hidden,), eps=shape.norm_eps), dense("read")),
        "model.norm.weight": tensors["norm"],
        "lm_head.weight": head,
        "lm_head.bias": bias,
    }
    for i in range(nano.layers):
        at, own = f"model.layers.{i}", f"layers.{i}"
        q, k, v = torch.split(dense(f"{own}.qkv"), sizes)
        gate, up = dense(f"{own}.gate_up").chunk(2)
        weights |= {
            f"{at}.self_attn.q_proj.weight": q,
            f"{at}.self_attn.k_proj.weight": k,
            f"{at}.self_attn.v_proj.weight": v,
            f"{at}.self_attn.o_proj.weight": dense(f"{own}.out"),
            f"{at}.mlp.gate_proj.weight": gate,
            f"{at}.mlp.up_proj.weight": up,
            f"{at}.mlp.down_proj.weight": dense(f"{own}.down"),
            f"{at}.input_layernorm.weight": tensors[f"{own}.attention_norm"],
            f"{at}.post_attention_layernorm.weight": tensors[f"{own}.mlp_norm"],
        }
    model.load_state_dict(weights)
    return model.requires_grad_(False).eval()


Encode = Callable[[str], list[int]]
LLAMA_CONTEXT = 2048  # tokens
LOOKUP_TOKENS = 10  # as in the guides of transformers, and of llama-cpp-python for a CPU
NAMES = ("transformers plain", "transformers lookup", "transformers assisted", "llama.cpp plain", "llama.cpp lookup")


class PeerError(ValueError):
    """A peer cannot be run here; the message says why."""


def wanted_peers(names: str | None) -> tuple[str, ...]:
    """The peers of a comma-separated list; None: all.

    Raises:
        ValueError: a name is unknown.
    """
    wanted = NAMES if names is None else tuple(name.strip() for name in names.split(","))
    if unknown := [name for name in wanted if name not in NAMES]:
        raise ValueError(f"{unknown[0]!r} is no peer; there are {', '.join(NAMES)}")
    return wanted


def open_peers(
    pipeline: Pipeline, limit: int, *, raw: bool, gguf: Path | None, wanted: Sequence[str] = NAMES
) -> tuple[list[BenchPeer], dict[str, str]]:
    """The peers that can run with the preset's target, and name -> reason for the others.

    Args:
        limit: of new tokens. raw: prompts without the chat template. gguf: the target's file, for llama.cpp.
        wanted: names among `NAMES`.
    """
    missing = {name: "left out" for name in NAMES if name not in wanted}
    found: list[BenchPeer] = []

    def encode(prompt: str) -> list[int]:
        return pipeline.encode(prompt, raw=raw)

    for library, opens in (("transformers", _transformers), ("llama.cpp", _llama_cpp)):
        try:
            if not any(name.startswith(library) for name in wanted):
                continue
            for peer in opens(pipeline, encode, limit, gguf):
                if peer.name in wanted:
                    found.append(peer)
        except PeerError as error:  # peers opened before stay
            opened = {peer.name for peer in found}
            missing |= {name: str(error) for name in wanted if name.startswith(library) and name not in opened}
    return found, missing


def _transformers(pipeline: Pipeline, encode: Encode, limit: int, gguf: Path | None) -> Iterator[BenchPeer]:
    """transformers' `generate`: plain, with prompt lookup, and assisted."""
    model = partial(_model, dtype=pipeline.dtype, device=pipeline.device)
    run = partial(_generate, model(_folder(pipeline)), encode, sorted(pipeline.ends), limit)
    plain, lookup, assisted = NAMES[:3]
    yield BenchPeer(plain, partial(run, {}))
    yield BenchPeer(lookup, partial(run, {"prompt_lookup_num_tokens": LOOKUP_TOKENS}))
    yield BenchPeer(assisted, partial(run, {"assistant_model": _assistant(pipeline, model)}))


def _generate(
    model: Any, encode: Encode, ends: Sequence[int], limit: int, options: Mapping[str, Any], prompt: str
) -> PeerText:
    """Generate one text. options: that make it draft."""
    torch_with(model_threads())
    ids = torch.tensor([encode(prompt)], device=model.device)
    stamps: list[tuple[int, int]] = []  # (ids so far, ns) after every step

    def stamp(so_far: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        stamps.append((awaited(so_far).shape[1], time.perf_counter_ns()))
        return torch.zeros(len(so_far), dtype=torch.bool, device=so_far.device)

    with torch.inference_mode():
        whole = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=limit,
            eos_token_id=ends,
            pad_token_id=ends[0],
            stopping_criteria=[stamp],
            **options,
        )
    (first, began), (last, ended) = stamps[0], stamps[-1]
    return PeerText(tuple(whole[0, ids.shape[1] :].tolist()), last - first, ended - began)


def _model(folder: Path, dtype: str, device: str) -> Any:
    from transformers import AutoModelForCausalLM

    try:
        model: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, dtype), use_safetensors=True, trust_remote_code=False, local_files_only=True
        )
    except (ValueError, KeyError, OSError, ImportError) as error:
        raise PeerError(f"transformers cannot open the target: {str(error).splitlines()[0][:120]}") from error
    return model.requires_grad_(False).eval().to(device)


def _assistant(pipeline: Pipeline, model: Callable[[Path], Any]) -> Any:
    """The assistant model for transformers: the preset's smaller model, else its nano as a Llama."""
    if source := pipeline.preset.draft:
        from hsd_core.models.weights import ensure

        return model(ensure(source))
    if pipeline.device != "cpu":
        raise PeerError("the preset's nano is put into transformers' form on the CPU alone")
    nano = next((d for d in pipeline.trained() if d.at == 0 and not d.fed), None)
    if not isinstance(nano, DraftHead):
        raise PeerError("the preset has no draft that transformers can run")
    return nano_as_llama(nano, pipeline.lean_target())


def _llama_cpp(pipeline: Pipeline, encode: Encode, limit: int, gguf: Path | None) -> Iterator[BenchPeer]:
    """llama.cpp through llama-cpp-python, on a GGUF file."""
    if importlib.util.find_spec("llama_cpp") is None:
        raise PeerError("not installed; pip install llama-cpp-python")
    if gguf is None:
        raise PeerError("no GGUF file of the target was named; give one with --gguf FILE")
    if pipeline.device != "cpu":
        raise PeerError(f"its wheels run on the CPU, and the target is on {pipeline.device}")
    from llama_cpp import Llama
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    drafts = (None, LlamaPromptLookupDecoding(num_pred_tokens=LOOKUP_TOKENS))
    for name, draft in zip(NAMES[3:], drafts, strict=True):
        try:
            model = Llama(
                model_path=str(gguf),
                n_ctx=LLAMA_CONTEXT,
                n_batch=LLAMA_CONTEXT,  # it keeps this many rows; a longer prompt would end the benchmark
                n_threads=model_threads(),
                n_threads_batch=model_threads(),
                draft_model=draft,
                verbose=False,
            )
        except (ValueError, OSError) as error:
            raise PeerError(f"llama.cpp cannot open {gguf.name}: {error}") from error
        yield BenchPeer(name, partial(_continue, model, encode, pipeline.ends, limit))


def _continue(model: Any, encode: Encode, ends: frozenset[int], limit: int, prompt: str) -> PeerText:
    model.reset()
    new, began, ended = list[int](), 0, 0
    for token in model.generate(encode(prompt), temp=0.0, repeat_penalty=1.0):
        ended = time.perf_counter_ns()
        began = began or ended
        new.append(token)
        if token in ends or len(new) == limit:
            break
    return PeerText(tuple(new), len(new) - 1, ended - began)


def _folder(pipeline: Pipeline) -> Path:
    if pipeline.preset.toy:
        raise PeerError("the toy has no weights")
    if pipeline.dtype != "float32" and (pipeline.device == "cpu" or pipeline.dtype in QUANTISED):
        raise PeerError(f"peers run in float32 on the CPU, and the target is {pipeline.dtype} on {pipeline.device}")
    from hsd_core.models.weights import ensure

    return ensure(pipeline.preset.target)
