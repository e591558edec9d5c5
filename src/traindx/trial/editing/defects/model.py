"""The width of the hidden layers, where one number sets it."""

from __future__ import annotations

import ast

from traindx.core import Place
from traindx.script.values import Const, Made, Spot, number, options
from traindx.trial.editing.birth import strangers, uses
from traindx.trial.editing.defects import Mender
from traindx.trial.editing.job import Job
from traindx.trial.editing.result import Uncertain

_LAYERS = r"^(Linear|Conv\dd|LSTM|GRU|RNN|BatchNorm\dd|LayerNorm|Embedding|Sequential)\."
_LARGER, _SMALLER = 16, 1 / 16


def enlarge(job: Job, place: Place | None) -> str:
    """Hidden layers many times wider."""
    return _scaled(job, place, _LARGER, "wider")


def shrink(job: Job, place: Place | None) -> str:
    """Hidden layers many times narrower."""
    return _scaled(job, place, _SMALLER, "narrower")


def _scaled(job: Job, place: Place | None, factor: float, word: str) -> str:
    told = []
    for spot in _widths(job):
        old = job.draft.text(spot.source, spot.node)
        new = max(4, round(int(old) * factor))
        job.draft.replace(spot.source, spot.node, str(new))
        told.append(f"{old} -> {new} units in line {spot.line}")
    if not told:
        raise Uncertain(f"Make the hidden layers {word} here.", place)
    return "; ".join(dict.fromkeys(told)) + "."


def _widths(job: Job) -> list[Spot]:
    """Numbers that are the width of one layer and the input of the next, and nothing else."""
    found: dict[int, Spot] = {}
    for event in job.training.trace.events:
        made = event.value
        if made.kind != "call" or made.short != "Linear" or not made.name.startswith("torch.nn."):
            continue
        for one in options(made.argument(1, "out_features")):
            if isinstance(one, Const) and number(one) is not None and one.spot is not None:
                found.setdefault(id(one.spot.node), one.spot)
    return [spot for spot in found.values() if _only_a_width(job, spot)]


def _only_a_width(job: Job, spot: Spot) -> bool:
    whole = isinstance(spot.node, ast.Constant) and type(spot.node.value) is int
    if not whole or strangers(job, spot, _LAYERS):
        return False
    places = {(id(e.value.spot), name) for e, name in uses(job, spot) if isinstance(e.value, Made)}
    outs = any(name in ("1", "out_features") for _, name in places)
    ins = any(name in ("0", "in_features") for _, name in places)
    return outs and ins


MENDERS: dict[str, tuple[Mender, ...]] = {"enlarge_model": (enlarge,), "shrink_model": (shrink,)}
