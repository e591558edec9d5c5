"""The loss of a run whose log calls it otherwise: `train_mse`, `nll`, `obj`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from traindx.core import names
from traindx.core.nouns import Note, Run, Series

# Where the loss is not what the training lowers, or several losses are at odds.
_APART = frozenset({"rl", "gan"})


def with_loss(run: Run, mapping: Mapping[str, str]) -> Run:
    """The run with the curve that is plainly minimised as its `loss`, when no column is called one.

    Its validation twin becomes `val/loss`. Names that the user gave (`mapping`) are left alone.
    """
    if run.traits & _APART or any(_is_loss(name, s) for name, s in run.series.items()):
        return run
    chosen = next((n for n in names.OBJECTIVES if n not in mapping and _minimised(n, run.series)), None)
    if chosen is None:
        return run
    renamed = {_as_loss(name, chosen, mapping): s for name, s in run.series.items()}
    losses = {name: _loss(name, s) for name, s in renamed.items() if names.parts(name).metric == "loss"}
    series = {**dict(sorted(losses.items(), key=lambda item: item[0] != "loss"))}
    series.update((name, s) for name, s in renamed.items() if name not in series)
    said = f"no column is called a loss: {losses['loss'].source} is read as the loss"
    note = Note(run.path, f"{said}; --map loss=COLUMN names another")
    return replace(
        run,
        series=MappingProxyType(series),
        traits=run.traits | names.traits(series),
        notes=(*run.notes, note),
    )


def _is_loss(name: str, series: Series) -> bool:
    """Any loss or term of one; a single value on held-out data is only a result."""
    told = names.parts(name)
    return told.metric == "loss" and (not told.split or len(series) > 1)


def _minimised(name: str, series: Mapping[str, Series]) -> bool:
    """Whether the run has this training curve; an ELBO counts only when it is one to lower."""
    curve = series.get(name)
    if curve is None or len(curve) < 2:
        return False
    if name not in names.EITHER_SIGN:
        return True
    finite = curve.values[np.isfinite(curve.values)]
    third = max(1, finite.size // 3)
    return finite.size > 1 and bool(np.median(finite[-third:]) < np.median(finite[:third]))


def _as_loss(name: str, chosen: str, mapping: Mapping[str, str]) -> str:
    """`val/mse@epoch` -> `val/loss@epoch`; names of anything else as they are."""
    base, at, scope = name.partition("@")
    for front in ("", "val/", "test/"):
        if base == front + chosen and name not in mapping:
            return f"{front}loss{at}{scope}"
    return name


def _loss(name: str, series: Series) -> Series:
    metric = names.METRICS.get(names.parts(series.name).metric)
    return replace(series, name=name, goal="lower", floor=metric.floor if metric else None)
