"""LayerSkip's training (arXiv 2404.16710, section 4) of a small target over bytes, by `exit_recipe`.

Every random choice of a step is a function of the seed and the step, so an interrupted training ends in the same
weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.systems.exits.exit_recipe import ExitRecipe
from hsd_core.typed import pretty, write_whole

END = 256  # the id that ends a text; bytes are their own ids
VOCABULARY = 257
CHECK_EVERY = 100  # steps between two checkpoints
HELD_OUT = 20  # one window in so many judges
JUDGED = 64  # windows
CHECKPOINT = "checkpoint.pt"


def new_target(recipe: ExitRecipe) -> Any:
    """A random target, a `LlamaForCausalLM` with tied embeddings."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(recipe.seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=recipe.hidden,
        intermediate_size=3 * recipe.hidden,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=END,
        eos_token_id=END,
    )
    return LlamaForCausalLM(config)


def states(model: Any, ids: Tensor, skipped: Sequence[Tensor] = ()) -> list[Tensor]:
    """(n, T, hidden) after every layer, for (n, T) ids. skipped: (n,) by layer, whether a text leaves it out."""
    x = model.model.embed_tokens(ids)
    turns = model.model.rotary_emb(x, torch.arange(ids.shape[1])[None])
    found = []
    for i, layer in enumerate(model.model.layers):
        y = layer(x, attention_mask=None, position_embeddings=turns)
        y = y[0] if isinstance(y, tuple) else y
        x = torch.where(skipped[i][:, None, None], x, y) if skipped else y
        found.append(x)
    return found


def exit_loss(model: Any, ids: Tensor, recipe: ExitRecipe, step: int, rng: torch.Generator) -> Tensor:
    """The loss of a step over (n, T + 1) ids."""
    skipped = [torch.rand(len(ids), generator=rng) < p for p in recipe.skipped(step)]
    total = torch.zeros(())
    for weight, x in zip(recipe.weights(step), states(model, ids[:, :-1], skipped), strict=True):
        if weight:
            logits = model.lm_head(model.model.norm(x))
            total = total + weight * F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    return total


def text_of(folder: Path) -> Tensor:
    """The bytes of all UTF-8 files of a folder, each followed by the end of a text.

    Raises:
        ValueError: there is none.
    """
    ids = list[Tensor]()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found = bytearray(path.read_bytes())
        try:
            found.decode()
        except UnicodeDecodeError:
            continue
        ids += [torch.frombuffer(found, dtype=torch.uint8).long()] if found else []
        ids.append(torch.tensor([END]))
    if sum(map(len, ids)) <= len(ids):
        raise ValueError(f"{folder} has no file of text; name a folder with some")
    return torch.cat(ids)


def train_exits(
    recipe: ExitRecipe,
    text: Tensor,
    out: Path,
    *,
    on_step: Callable[[int, float], None] = lambda step, loss: None,
    stop: Callable[[], bool] = lambda: False,
) -> list[dict[str, float]] | None:
    """Train a target and write it to `out`, which any `--target` opens; None if it was stopped, to go on another time.

    Returns:
        By layer, over held-out windows: `agree`, how often its exit chooses what the last layer does, and `nats`, its
        cross-entropy a byte.
    Raises:
        ValueError: the text is too short, or `out` holds another training.
    """
    windows = text[: len(text) // (recipe.length + 1) * (recipe.length + 1)].view(-1, recipe.length + 1)
    if len(windows) < HELD_OUT:
        raise ValueError(f"{len(text)} bytes are {len(windows)} windows; training takes at least {HELD_OUT}")
    judges = windows[::HELD_OUT][:JUDGED]
    learned = windows[torch.arange(len(windows)) % HELD_OUT > 0]
    out.mkdir(parents=True, exist_ok=True)
    kept, about = out / CHECKPOINT, {**asdict(recipe), "bytes": len(text)}
    model = new_target(recipe)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.rate, betas=(0.9, 0.95), weight_decay=0.1)
    begun = 0
    if kept.exists():
        saved = torch.load(kept, weights_only=True)
        if saved["about"] != about:
            raise ValueError(f"{kept} is of another training; name another --out, or move it away")
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        begun = saved["step"]
    for step in range(begun, recipe.steps):
        rng = torch.Generator().manual_seed(recipe.seed * 1_000_003 + step)
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate * min(1.0, (step + 1) / 50, 1.1 - step / recipe.steps)
        batch = learned[torch.randint(len(learned), (recipe.batch,), generator=rng)]
        loss = exit_loss(model, batch, recipe, step, rng)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        on_step(step + 1, float(loss.detach()))
        ending = step + 1 < recipe.steps and stop()
        if ending or (step + 1) % CHECK_EVERY == 0 or step + 1 == recipe.steps:
            part = kept.with_suffix(".part")
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "step": step + 1, "about": about}, part)
            part.replace(kept)
        if ending:
            return None
    found = judged(model, judges)
    model.save_pretrained(out)
    _tokenizer().save_pretrained(out)
    write_whole(out / "exits.json", f"{pretty({**about, 'exits': found})}\n".encode())
    return found


@torch.inference_mode()
def judged(model: Any, windows: Tensor) -> list[dict[str, float]]:
    """See `train_exits`."""
    rows = [model.lm_head(model.model.norm(x)) for x in states(model, windows[:, :-1])]
    best, true = rows[-1].argmax(-1), windows[:, 1:].flatten()
    return [
        {
            "agree": round(float((row.argmax(-1) == best).double().mean()), 4),
            "nats": round(float(F.cross_entropy(row.flatten(0, 1), true)), 4),
        }
        for row in rows
    ]


def _tokenizer() -> Any:
    """One id a byte, as `tokenizer.json` has it."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    fast = Tokenizer(models.BPE(vocab=_alphabet(), merges=[]))
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    fast.decoder = decoders.ByteLevel()
    fast.add_special_tokens([AddedToken("<|end|>", special=True)])
    return PreTrainedTokenizerFast(tokenizer_object=fast, eos_token="<|end|>")  # type: ignore[no-untyped-call]


def _alphabet() -> dict[str, int]:
    """The letter of every byte in a byte-level vocabulary -> the byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {**{chr(byte): byte for byte in plain}, **{chr(256 + n): byte for n, byte in enumerate(others)}}


def within(minutes: float) -> Callable[[], bool]:
    """A function that says whether so many minutes are over."""
    end = time.monotonic() + 60.0 * minutes
    return lambda: time.monotonic() >= end
