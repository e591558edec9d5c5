"""The width of the hidden layers: every number that sets it, together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.core.nouns import Place
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.value_origin import strangers
from traindx.experiment.edit.value_sources import behind, inputs_of
from traindx.source.flow import parametric
from traindx.source.training import Training
from traindx.source.values import Const, Made, Spot, Value, options

_LAYERS = r"^(Linear|BatchNorm1d|LayerNorm|Sequential)\."
_LOADED = re.compile(r"load_state_dict|from_pretrained|torch\.load\(|\.weight\b.*copy_")
_LARGER, _SMALLER = 16, 1 / 16
_NARROW, _WIDE = 4, 1024


def enlarge(job: Job, place: Place | None) -> str:
    """Hidden layers many times wider."""
    return _scaled(job, place, _LARGER, "wider")


def shrink(job: Job, place: Place | None) -> str:
    """Hidden layers many times narrower."""
    return _scaled(job, place, _SMALLER, "narrower")


def _scaled(job: Job, place: Place | None, factor: float, word: str) -> str:
    if any(_LOADED.search(source.text) for source in job.script.sources):
        raise Uncertain(f"Weights of this width are loaded: make the hidden layers {word} with them.", place)
    descriptions = []
    for spots in _widths(job):
        for spot in spots:
            old = job.draft.text(spot.node)
            new = min(max(_NARROW, round(int(old) * factor)), max(_WIDE, int(old)))
            if str(new) != old:
                job.draft.replace(spot.node, str(new))
                descriptions.append(f"{old} -> {new} units in line {spot.line}")
    return sentence(descriptions, f"Make the hidden layers {word} here.", place)


def _widths(job: Job) -> list[list[Spot]]:
    """Numbers that are the width between one linear layer and the next, grouped as they must agree."""
    groups: list[dict[int, Spot]] = []
    broken: set[int] = set()
    for ends in _joints(job.training):
        spots = [_literal(end) for end in ends]
        literals = {id(spot.node): spot for spot in spots if spot is not None}
        if len(literals) == 0:
            continue
        if any(spot is None for spot in spots):
            broken |= set(literals)
        met = [group for group in groups if group.keys() & literals.keys()]
        groups = [group for group in groups if group not in met]
        groups.append({k: v for group in [*met, literals] for k, v in group.items()})
    return [
        list(group.values())
        for group in groups
        if not group.keys() & broken and not any(strangers(job, spot, _LAYERS) for spot in group.values())
    ]


def _literal(value: Value | None) -> Spot | None:
    """Where a whole number is written."""
    values = options(value)
    if len(values) != 1 or not isinstance(values[0], Const) or values[0].spot is None:
        return None
    node = values[0].spot.node
    return values[0].spot if isinstance(node, ast.Constant) and type(node.value) is int else None


def _joints(training: Training) -> Iterator[list[Value | None]]:
    """What must be one number: the width that a layer gives, those that the next ones take."""
    followed = {
        id(layer) for e in training.trace.events if parametric(e.value) for layer in _previous_layers(e.value)
    }
    for event in training.trace.events:
        layer = parametric(event.value)
        if not isinstance(layer, Made) or layer.short not in ("Linear", "BatchNorm1d", "LayerNorm"):
            continue
        width_in = layer.argument(0, "in_features", "num_features", "normalized_shape")
        nearest = _previous_layers(event.value)
        if not nearest:
            yield [width_in, None]
        if layer.short == "Linear" and id(layer) not in followed:
            yield [layer.argument(1, "out_features"), None]
        for previous in nearest:
            if previous.short == "Linear":
                yield [width_in, previous.argument(1, "out_features")]
            elif previous.short in ("BatchNorm1d", "LayerNorm"):
                yield [width_in, previous.argument(0, "num_features", "normalized_shape")]
            else:
                yield [width_in, None]


def _previous_layers(value: Value) -> list[Made]:
    """The layers with parameters nearest before a layer's call."""
    roots = value.args if isinstance(value, Made) else []
    values = behind(roots, lambda item: [] if isinstance(parametric(item), Made) else inputs_of(item))
    return [layer for item in values if isinstance(layer := parametric(item), Made)]


EDITS = {"enlarge_model": (enlarge,), "shrink_model": (shrink,)}
