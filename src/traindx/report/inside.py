"""The inside of a recorded training as charts: gradients, activations, updates, where the time goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.number_text import lasting_each
from traindx.evidence.case import Case
from traindx.report.charts import AlongLayers, Curves, Drawing, Field, Histograms, Level, Line, Panel, Stack
from traindx.report.grids import Grid, grid, matrices, share_grids
from traindx.report.spreads import spreads
from traindx.report.text import count, short
from traindx.report.times import OTHER, PARTS, spent, time_sentence

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray

USUAL = (1e-4, 1e-2)  # the change of a step over the size of the weights in most trainings that go well
_HISTOGRAMS_MOST = 12
_BAND_FROM = 4
_TIME_COLOURS = dict(zip((*PARTS.values(), OTHER), ("val", "train", "lr", "third", "rest"), strict=True))
_BLANK = "Each column is one sample; blank: not sampled."


@dataclass(frozen=True)
class Part:
    """One chart with its title and a sentence on how to read it."""

    title: str
    text: str
    drawing: Drawing


def inside_parts(case: Case, columns: int = 120, rows: int | None = None) -> dict[str, list[Part]]:
    """The charts that the recording allows, by the picture they belong to."""
    made = {
        "gradient_flow": list(_gradients(case, columns, rows)),
        "activations": list(_activations(case, columns, rows)),
        "update_ratios": list(_ratios(case, columns, rows)),
        "time": list(_time(case)),
    }
    return {name: parts for name, parts in made.items() if parts}


def _gradients(case: Case, columns: int, rows: int | None) -> Iterator[Part]:
    found = grid(case, "grad_norm", columns, rows)
    if found is None:
        return
    axis, samples = case.run.axis, found.steps.size
    kinds: list[tuple[str, FloatArray, str]] = []
    if samples > 1:
        kinds.append((f"first sample, {axis} {short(float(found.steps[0]))}", found.first(), "third"))
    kinds.append((f"last sample, {axis} {short(float(found.steps[-1]))}", found.last(), "val"))
    if samples > 2:
        kinds.append((f"median of {samples:,} samples", found.level(0.5), "train"))
    main = matrices(case, found.layers)
    broken = found.ever_broken()
    flow = AlongLayers(
        found.layers,
        "gradient norm from input to output",
        tuple((name, np.where(values > 0, values, np.nan), colour) for name, values, colour in kinds),
        main if main.sum() >= 2 else np.ones_like(main),
        tuple(_strange(broken, found.ever_zero() & ~broken)),
        band=(found.level(0.1), found.level(0.9)) if samples >= _BAND_FROM else None,
        logarithmic=bool((found.seen > 0).any()),
        label="Gradient norm of each layer from input to output.",
    )
    yield Part("Gradient flow", "Norm of the gradient of each layer, from input to output.", flow)
    yield _field(case, found, "level", "Gradient norm by layer", _BLANK)


def _strange(broken: BoolArray, zero: BoolArray) -> Iterator[tuple[BoolArray, str, str, str]]:
    if broken.any():
        yield broken, "x-thin", "alarm", "NaN or Inf in a sample"
    if zero.any():
        yield zero, "triangle-down", "muted", "exactly 0 in a sample"


def _activations(case: Case, columns: int, rows: int | None) -> Iterator[Part]:
    spread, means = grid(case, "activation_std", columns, rows), grid(case, "activation_mean", columns, rows)
    if spread is None:
        return
    if means is not None:
        text = "Mean and standard deviation of what each layer gives, from input to output."
        yield Part("Activations", text, _spread(spread, means))
    counted = spreads(case, _HISTOGRAMS_MOST)
    if counted:
        text = f"{count(len(counted), 'activation')} from input to output, first and last sample; heights are the root of the share."
        yield Part("Activation histograms", text, Histograms(tuple(counted), case.run.axis, text))
    for title, found in share_grids(case, columns, rows):
        if found.broken.any() or (found.seen > 0).any():
            yield _field(case, found, "share", f"Activations: {title}", _BLANK)


def _spread(spread: Grid, means: Grid) -> AlongLayers:
    centres = dict(zip(means.layers, zip(means.first(), means.last(), strict=True), strict=True))
    held = np.array([centres.get(layer, (np.nan, np.nan)) for layer in spread.layers])
    rows = [("mean ± standard deviation, first sample", held[:, 0], "third")]
    rows.append(("mean ± standard deviation, last sample", held[:, 1], "val"))
    deviations = [spread.first(), spread.last()]
    if spread.steps.size < 2:
        rows, deviations = rows[1:], deviations[1:]
    everywhere = np.ones(len(spread.layers), dtype=bool)
    return AlongLayers(
        spread.layers,
        "activations from input to output",
        tuple(rows),
        everywhere,
        tuple(_strange(spread.ever_broken(), ~everywhere)),
        spread=tuple(deviations),
        label="Mean and spread of each activation from input to output.",
    )


def _ratios(case: Case, columns: int, rows: int | None) -> Iterator[Part]:
    found = grid(case, "update_ratio", columns, rows)
    if found is None:
        return
    kept = [column[np.isfinite(column) & (column > 0)] for column in found.values.T]
    there = np.array([bool(column.size) for column in kept])
    low, middle, high = (
        np.array([float(np.quantile(column, share)) for column in kept if column.size])
        for share in (0.1, 0.5, 0.9)
    )
    text = "What a step changes over the size of the weights; 1e-4 to 1e-2 is usual."
    if middle.size > 1:
        line = Line("median of the layers", found.steps[there], middle, "train", None, low=low, high=high)
        ends = np.concatenate([found.seen[found.seen > 0], USUAL])
        levels = (Level(USUAL[0], "usual from 1e-4"), Level(USUAL[1], "usual up to 1e-2"))
        title = "update ratio: size of a step over size of the weights"
        panel = Panel("update_ratio", title, (line,), (), True, ends, levels)
        span = (float(found.steps[0]), float(found.steps[-1]))
        label = "Update ratio over the steps: median of the layers, band of 80 % of them."
        yield Part("Update ratio", text, Curves((panel,), case.run.axis, span, label))
    yield _field(case, found, "ratio", "Update ratio by layer", f"{text} {_BLANK}")


def _field(case: Case, found: Grid, kind: str, title: str, text: str) -> Part:
    all_layers = len(case.inside.layers(found.statistic))
    if len(found.layers) < all_layers:
        text += f" {len(found.layers):,} of {all_layers:,} layers are shown."
    label = f"{title} over the {case.run.axis}s of the run, as a coloured field."
    return Part(title, text, Field(found, kind, title, case.run.axis, label))  # type: ignore[arg-type]


def _time(case: Case) -> Iterator[Part]:
    found = spent(case)
    if found is not None:
        whole = f"{lasting_each(found.total)} in {count(found.timed, 'timed step')}"
        text = f"{time_sentence(found).capitalize()}, {whole}."
        parts = tuple((p, v, _TIME_COLOURS[p], found.share(p)) for p, v in found.parts.items())
        label = "Time of a step by what it is spent on."
        yield Part("Where the time goes", text, Stack(found.steps, parts, case.run.axis, label))
