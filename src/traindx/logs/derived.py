"""What follows from a log's content: totals it does not contain, NaN that its writer hid, and the loss of
a run whose log calls it otherwise (`train_mse`, `nll`, `obj`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from traindx.core import names
from traindx.core.nouns import Event, Note, Run, Series
from traindx.logs.log import Column

_DETECTION_TERMS = frozenset({"box", "cls", "dfl", "obj", "seg", "pose", "kobj", "angle"})
_RATE = re.compile(r"\bto (\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?)(?![\w.]*\d)")
# A total counts as the loss where it falls by a fifth: a total of seconds or samples does not.
_TOTAL, _FALLS_TO = "total", 0.8
_OTHER_GROUP = re.compile(r"\bgroup [1-9]")
# Where the loss is not what the training lowers, or several losses are at odds.
_APART = frozenset({"rl", "gan"})

# What a classifier or a language model minimises, under the names it has on held-out data.
_LIKELIHOODS = ("nll", "bce")


def detection_totals(columns: Sequence[Column]) -> list[Column]:
    """The training objective of a YOLO model, which logs only its (already weighted) terms: their sum."""
    totals: list[Column] = []
    for front, total in (("train/", "loss"), ("val/", "val/loss")):
        terms = [
            column
            for column in columns
            if column.name.startswith(front)
            and column.name.removeprefix(front).removesuffix("_loss") in _DETECTION_TERMS
        ]
        kinds = {column.name.removeprefix(front).removesuffix("_loss") for column in terms}
        if not {"box", "cls"} <= kinds:
            continue
        if any(column.name in (total, f"{front}loss") for column in columns):
            continue
        steps = terms[0].steps
        for column in terms[1:]:
            steps = steps[np.isin(steps, column.steps)]
        parts = [column.values[np.isin(column.steps, steps)] for column in terms]
        if steps.size and all(part.size == steps.size for part in parts):
            formula = " + ".join(column.name for column in terms)
            totals.append(Column(total, steps, np.sum(parts, axis=0), derived=formula))
    return totals


def announced_rates(columns: Sequence[Column], events: Sequence[Event]) -> list[Column]:
    """The learning rate since its first reduction, of a log that names it only where it is reduced."""
    if any(names.understand(column.name).metric == "lr" for column in columns) or not columns:
        return []
    reductions = {e.step: rate for e in events if e.step is not None and (rate := _reduced_to(e))}
    steps = max(columns, key=lambda column: column.values.size).steps
    at = np.array(sorted(reductions))
    since = steps[steps >= at[0]] if at.size > 1 else steps[:0]
    if not since.size:
        return []
    rates = np.array([reductions[step] for step in at.tolist()])
    return [Column("lr", since, rates[np.searchsorted(at, since, "right") - 1], derived="printed reductions")]


def _reduced_to(event: Event) -> float | None:
    """The rate of the first parameter group that a reduction is said to lead to."""
    found = _RATE.search(event.text) if event.kind == "lr_reduced" else None
    rate = float(found[1]) if found is not None and not _OTHER_GROUP.search(event.text) else 0.0
    return rate if 0.0 < rate < np.inf else None


def hidden_nans(series: Mapping[str, Series]) -> list[Event]:
    """Loss exactly 0 where the gradient norm is not finite: a NaN that the Trainer hid."""
    loss, norm = series.get("loss"), series.get("grad_norm")
    if loss is None or norm is None or not len(loss) or not len(norm):
        return []
    zero, broken = loss.steps[loss.values == 0.0], norm.steps[~np.isfinite(norm.values)]
    hidden = zero[np.isin(zero, broken)] if zero.size and broken.size else zero[:0]
    if not hidden.size:
        return []
    return [
        Event(
            "nan_filter",
            f"{hidden.size} logged losses are exactly 0.0 where grad_norm is not finite: "
            "the logger replaced NaN losses by 0",
            float(hidden[0]),
        )
    ]


def with_loss(run: Run, mapping: Mapping[str, str]) -> Run:
    """The run with the curve that is plainly minimised as its `loss`, when no column is called one.

    Its validation twin becomes `val/loss`. Names that the user gave (`mapping`) are left alone.
    """
    if run.traits & _APART:
        return run
    loss_sources = [s.source for name, s in run.series.items() if _is_loss(name, s)]
    # A bare `heldout` is of the same measure as the training's `nll`.
    if not all(names.split_of(source) in ("val", "test") for source in loss_sources):
        return _with_validation_loss(run, mapping)
    metric = next((n for n in names.OBJECTIVES if n not in mapping and _minimised(n, run.series)), None)
    if metric is None or (loss_sources and f"val/{metric}" in run.series):
        return run
    renamed = {_as_loss(name, metric, mapping): s for name, s in run.series.items()}
    losses = {name: _loss(name, s) for name, s in renamed.items() if names.parts(name).metric == "loss"}
    series = {**dict(sorted(losses.items(), key=lambda item: item[0] != "loss"))}
    series.update((name, s) for name, s in renamed.items() if name not in series)
    reason = f"no column is called a loss: {losses['loss'].source} is read as the loss"
    note = Note(run.path, f"{reason}; --map loss=COLUMN names another")
    return replace(
        run,
        series=MappingProxyType(series),
        traits=run.traits | names.traits(series),
        notes=(*run.notes, note),
    )


def _with_validation_loss(run: Run, mapping: Mapping[str, str]) -> Run:
    """The run with its held-out likelihood as `val/loss`, when that is the only loss on held-out data."""
    losses = [name for name in run.series if names.parts(name).metric == "loss"]
    if "loss" not in losses or any(names.parts(name).split for name in losses):
        return run
    metric = next((n for n in _LIKELIHOODS if f"val/{n}" in run.series and n not in run.series), None)
    if metric is None or {f"val/{metric}", "val/loss"} & mapping.keys():
        return run
    renamed = {_as_loss(name, metric, mapping): s for name, s in run.series.items()}
    series = {
        n: _loss(n, s) if names.parts(n).metric == "loss" and n != s.name else s for n, s in renamed.items()
    }
    source = series["val/loss"].source
    note = Note(run.path, f"{source} is read as the validation loss; --map val/loss=COLUMN names another")
    return replace(run, series=MappingProxyType(series), notes=(*run.notes, note))


def _is_loss(name: str, series: Series) -> bool:
    """Any loss or term of one; a single value on held-out data is only a result."""
    meaning = names.parts(name)
    return meaning.metric == "loss" and (not meaning.split or len(series) > 1)


def _minimised(name: str, series: Mapping[str, Series]) -> bool:
    """Whether the run has this training curve; an ELBO or a total counts only when it falls."""
    curve = series.get(name)
    if curve is None or len(curve) < 2:
        return False
    if name not in names.EITHER_SIGN:
        return True
    finite = curve.values[np.isfinite(curve.values)]
    third = max(1, finite.size // 3)
    if finite.size < 2:
        return False
    first, last = float(np.median(finite[:third])), float(np.median(finite[-third:]))
    return last < (first if name != _TOTAL else _FALLS_TO * first)


def _as_loss(name: str, metric: str, mapping: Mapping[str, str]) -> str:
    """`val/mse@epoch` -> `val/loss@epoch`; names of anything else as they are."""
    base, at, scope = name.partition("@")
    for front in ("", "val/", "test/"):
        if base == front + metric and name not in mapping:
            return f"{front}loss{at}{scope}"
    return name


def _loss(name: str, series: Series) -> Series:
    metric = names.METRICS.get(names.parts(series.name).metric)
    return replace(series, name=name, goal="lower", floor=metric.floor if metric else None)
