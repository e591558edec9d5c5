"""Terms of a loss in brackets behind it: `loss 1.2 (recon 1.0, kl 0.2)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from traindx.core import names
from traindx.logs.text.fields import NumberSlot, counter_of

_OPENS = re.compile(rb"^\s*\(\s*[A-Za-z]")
_GOES_ON = re.compile(rb"^\s*[,;+|/]?\s*[A-Za-z][^()\[\]]*$")
_TERM = re.compile(r"[A-Za-z][\w\-]*")
# What a bracket may say of the loss itself.
_OF_ITSELF = frozenset(
    "min max best last prev previous old new delta diff change raw ema smooth smoothed std var".split()
)


def name_terms(texts: Sequence[bytes], slots: Sequence[NumberSlot]) -> None:
    """Call the unknown names of a bracket of at least two after the loss in front of it."""
    for first, (loss, term) in enumerate(pairwise(slots), 1):
        if not _is_loss(loss) or not term.name or not _OPENS.match(texts[first]):
            continue
        inside = [first]
        while inside[-1] + 1 < len(slots) and _GOES_ON.match(texts[inside[-1] + 1]):
            inside.append(inside[-1] + 1)
        if len(inside) < 2 or b")" not in texts[inside[-1] + 1]:
            continue
        split = names.understand(loss.name).split
        for at in inside:
            _name_term(slots[at], split)


def _is_loss(slot: NumberSlot) -> bool:
    meaning = names.understand(slot.name)
    return slot.kind == "value" and meaning.metric == "loss" and not meaning.part


def _name_term(slot: NumberSlot, split: str) -> None:
    front, _, word = slot.name.rpartition(" ")
    has_split = bool(names.split_of(front))
    if slot.kind != "value" or not _TERM.fullmatch(word) or (front and not has_split):
        return
    if names.understand(word).known or counter_of(word) or word.lower() in _OF_ITSELF:
        return
    slot.name = f"{front if has_split else split} {word}_loss".strip()
