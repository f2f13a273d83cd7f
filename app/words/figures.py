"""The figure of layers below the text: its title, its description, the columns of its table."""

from __future__ import annotations

NOT_DRAWN = "The figures are not drawn yet"
TOKEN = "token"
KNOWN_FROM = "known from layer"
NONE_KNOWN = "The last layer would have written none of these tokens."
DEPTHS = "At which layer did the model know?"


def known_by(half: int, most: int) -> str:
    return f"Half of the tokens were settled by layer {half}, nine in ten by layer {most}."


def layer(at: int) -> str:
    return f"layer {at}"


def draft_at(name: str, at: int) -> str:
    return f"{name}, at {at}"


def depths_text(summary: str) -> str:
    return (
        "Columns are the tokens that were written, rows the layers, read through the model's own norm and head or "
        "a trained draft. Colour: probability of the token that was written; a dot: it is the most likely one there; "
        f"a frame: right from this layer on. {summary}"
    )
