"""A checkpoint as a run: `facts["weights"]` has a row for each tensor.

Of several checkpoints the last is measured; `facts["moved"]` compares it with the first, and the norms and
changes of all of them are series.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from traindx.checkup.target import CHECKPOINTS, CheckRequest, checked
from traindx.checkup.weights.copies import model_copies
from traindx.checkup.weights.formats import opened, shards_of
from traindx.checkup.weights.layer_kinds import kinds_of
from traindx.checkup.weights.measure import MATRICES, measured, statistics
from traindx.checkup.weights.moments import squares_lost
from traindx.checkup.weights.several import movement, steps_of
from traindx.checkup.weights.tensors import Checkpoint, StoredOptimizer
from traindx.core.nouns import Note, Run, Series, Unreadable

_MORE = "Weights alone do not show whether a training goes well; its log does (traindx diagnose PATH)."
_FILM_MOST = 200
# Of n values that are even within a bound, the largest is below a share s of it with probability s^n.
_BOUND, _UNLIKELY, _TINY = 1.00001, 0.005, 1e-3


def run(request: CheckRequest) -> Run:
    """What was measured of the checkpoints."""
    paths = [path for target in request.targets for path in _files_of(target)]
    if len(paths) > _FILM_MOST:
        raise Unreadable(f"{len(paths)} checkpoints are too many at once: give at most {_FILM_MOST}")
    checkpoints = [opened(path, trust_code=request.trust_code) for path in paths]
    if len(request.targets) == 1:
        steps = steps_of(checkpoints)[1]
        checkpoints = [
            checkpoint
            for _, checkpoint in sorted(zip(steps, checkpoints, strict=True), key=lambda pair: pair[0])
        ]
    last = checkpoints[-1]
    facts = measured_checkpoint(last)
    if len(checkpoints) > 1:
        kinds = {row["name"]: row["kind"] for row in facts["weights"]}
        facts["moved"] = movement(checkpoints[0], last, kinds)
    summary = _summary(facts["weights"])
    if len(checkpoints) > 1:
        summary = f"the last of {len(checkpoints)} checkpoints: {summary}"
    checked_run = checked(
        request,
        "weights",
        facts,
        areas=("weights",),
        subject="weights",
        summary=summary,
        more=_MORE,
        notes=[Note(last.path, text) for text in last.notes],
        files=[file for checkpoint in checkpoints for file in checkpoint.files],
    )
    return _with_series(checked_run, checkpoints)


def _files_of(target: str) -> list[str]:
    """The checkpoints of an argument: a folder of shards is one, a folder of files is as many as it holds."""
    if not os.path.isdir(target) or shards_of(target):
        return [target]
    paths = [os.path.join(target, name) for name in os.listdir(target) if name.lower().endswith(CHECKPOINTS)]
    return sorted(
        paths, key=lambda path: [int(digits) for digits in re.findall(r"\d+", os.path.basename(path))]
    )


def _with_series(run: Run, checkpoints: Sequence[Checkpoint]) -> Run:
    """The norm of each matrix, and what changed since the checkpoint before, as curves of the layers."""
    axis, steps = steps_of(checkpoints) if len(checkpoints) > 1 else ("step", [0.0])
    kinds = {row["name"]: row["kind"] for row in run.facts["weights"]}
    names = [name for name, kind in kinds.items() if kind in MATRICES]
    norms: dict[str, list[float]] = {name: [] for name in names}
    changes: dict[str, list[float]] = {name: [] for name in names}
    last = {row["name"]: row["norm"] for row in run.facts["weights"]}
    for before, after in pairwise(checkpoints):
        rows = {row["name"]: row for row in movement(before, after, kinds)}
        for name in names:
            norms[name].append(rows.get(name, {}).get("norm_before", math.nan))
            changes[name].append(rows.get(name, {}).get("change", math.nan))
    for name in names:
        norms[name].append(last[name])
    at = np.array(steps)
    series = {f"weight_norm/{name}": _series(f"weight_norm/{name}", at, norms[name]) for name in names}
    if len(checkpoints) > 1:
        series |= {
            f"weight_change/{name}": _series(f"weight_change/{name}", at[1:], changes[name]) for name in names
        }
    facts = {**run.facts, "sampled": {"layer": names}}
    return replace(run, series=series, facts=facts, axis=axis)  # type: ignore[arg-type]


def _series(name: str, steps: Any, values: list[float]) -> Series:
    return Series(name, steps, np.array(values, dtype=np.float64), name)


def measured_checkpoint(checkpoint: Checkpoint) -> dict[str, Any]:
    """All facts of a checkpoint; tensors are read one after another."""
    tensors = list(checkpoint.tensors)
    kinds = kinds_of(tensors)
    rows = [measured(tensor, kinds[tensor.name], checkpoint.layout) for tensor in tensors]
    _mark_moved_biases(rows)
    return {
        "weights": rows,
        "checkpoint": {
            "format": checkpoint.format,
            "parts": list(checkpoint.parts),
            "counters": dict(checkpoint.counters),
            "parameters": sum(row["size"] for row in rows),
        },
        "copies": model_copies(tensors, kinds),
        "optimizer_state": [_optimizer(optimizer) for optimizer in checkpoint.optimizers],
    }


def _optimizer(state: StoredOptimizer) -> dict[str, Any]:
    """Settings of its groups, steps taken, and one row for each of its tensors."""
    tensors = list(state.tensors)
    lost = squares_lost(tensors)
    rows = [
        {
            "name": tensor.name,
            "shape": list(tensor.shape),
            "dtype": tensor.dtype,
            "size": math.prod(tensor.shape),
            **statistics(tensor.load()),
            **({"lost": lost[tensor.name]} if tensor.name in lost else {}),
        }
        for tensor in tensors
    ]
    groups = [
        {key: value if isinstance(value, int | float | str | bool) else True for key, value in group.items()}
        for group in state.groups
    ]
    steps = [min(state.steps), max(state.steps)] if state.steps else []
    return {"groups": groups, "steps": steps, "parameters": state.parameters, "rows": rows}


def _mark_moved_biases(rows: list[dict[str, Any]]) -> None:
    """Whether biases have left their initialisation: a constant, or even within 1/sqrt(inputs).

    A layer whose bias has left it has moved, whatever its weights look like.
    """
    for bias in rows:
        weights = [row for row in rows if row["layer"] == bias["layer"] and "fan_in" in row]
        if bias["kind"] != "bias" or bias["min"] is None or not weights:
            continue
        hidden = [row for row in weights if "_hh" in row["name"]]
        bound = 1.0 / math.sqrt(min(row["fan_in"] for row in hidden or weights))
        largest = max(abs(bias["min"]), abs(bias["max"])) / bound
        evenly = largest <= _BOUND and largest ** bias["size"] >= _UNLIKELY
        bias["moved"] = bias["min"] != bias["max"] and largest > _TINY and not evenly
        for row in weights if bias["moved"] else ():
            row["initial"] = ""


def _summary(rows: list[dict[str, Any]]) -> str:
    counters = ("counter", "norm_count")
    dtypes = ", ".join(dict.fromkeys(row["dtype"] for row in rows if row["kind"] not in counters))
    return f"{len(rows):,} tensors, {sum(row['size'] for row in rows):,} values, {dtypes}"
