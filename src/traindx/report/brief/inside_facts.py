"""What was measured inside: layers, updates, units, batches, single samples, time and memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.core.facts import number
from traindx.core.nouns import FloatArray
from traindx.evidence.case import Case
from traindx.evidence.sampled import part
from traindx.report.brief.facts import BriefFact
from traindx.report.brief.task_facts import table
from traindx.report.document import DocumentTable
from traindx.report.grids import Grid, defects, grid, layer_names, matrix_levels, most_at_the_end
from traindx.report.inside import USUAL
from traindx.report.text import count, percent, rounded, short
from traindx.report.times import PARTS, spent, time_sentence

_SHARES = {
    "activation_dead_share": "dead",
    "activation_saturated_share": "saturated",
    "activation_zero_share": "zeros",
}
_BATCHES = ("input/mean", "input/std", "target/mean", "target/std", "output/mean", "output/std")


def inside_facts(case: Case) -> Iterator[BriefFact]:
    """No facts for a log that has only curves."""
    layers = _layer_table(case)
    yield from _range(case, "grad_norm", "layer gradients", "gradient_flow", layers)
    yield from _range(case, "update_ratio", "layer updates", "update_ratios", layers)
    yield from _units(case)
    yield from _batches(case)
    yield from _samples(case)
    yield from _time(case)
    yield from _memory(case)


def _layer_table(case: Case) -> DocumentTable | None:
    """Each layer with the medians of its sampled statistics."""
    grids = [grid(case, name) for name in ("grad_norm", "update_ratio", "weight_norm")]
    first = grids[0] or grids[1]
    if first is None:
        return None
    columns = [_by_layer(statistic) for statistic in grids]
    rows = [(name, *(column.get(name) for column in columns)) for name in first.layers]
    return table(("layer", "gradient norm", "update ratio", "weight norm"), rows)


def _by_layer(values: Grid | None) -> dict[str, float]:
    return dict(zip(values.layers, map(float, values.level(0.5)), strict=True)) if values is not None else {}


def _range(
    case: Case, statistic: str, label: str, picture: str, layers: DocumentTable | None
) -> Iterator[BriefFact]:
    """The layers with the least and the most; those that are exactly zero or not finite."""
    values = grid(case, statistic)
    if values is None:
        return
    names = layer_names(values.layers)
    places, levels = matrix_levels(case, values)
    parts = []
    if places.size:
        ends = [
            f"{rounded(levels[at], 3)} ({names[places[at]]})" for at in (levels.argmin(), levels.argmax())
        ]
        parts.append(" to ".join(dict.fromkeys(ends)) + f" over {count(len(names), 'layer')}")
        if statistic == "update_ratio":
            parts.append(_beside_usual(levels))
    parts += defects(values, names, "exactly 0 always")
    if parts:
        yield BriefFact(label, f"medians {'; '.join(parts)}", 8, table=layers, picture=picture)


def _beside_usual(levels: FloatArray) -> str:
    """How many layers are outside the usual range of update ratios."""
    below, above = int((levels < USUAL[0]).sum()), int((levels > USUAL[1]).sum())
    outside = [f"{number} {word}" for number, word in ((below, "below"), (above, "above")) if number]
    return f"usual 1e-4 to 1e-2: {', '.join(outside) if outside else 'all within'}"


def _units(case: Case) -> Iterator[BriefFact]:
    """The worst layer by each share at the last sample."""
    parts, rows_of_units = [], []
    for statistic, state in _SHARES.items():
        worst = most_at_the_end(case, statistic)
        if worst is None:
            continue
        layer, share, shares = worst
        parts.append(f"{state} {percent(share)} ({layer})")
        rows_of_units += [
            (state, name, float(last)) for name, last in zip(shares.layers, shares.last(), strict=True)
        ]
    if parts:
        text = f"most at the last sample: {', '.join(parts)}"
        rows = table(("units", "layer", "share"), rows_of_units)
        yield BriefFact("units", text, 7, table=rows, picture="activations")


def _batches(case: Case) -> Iterator[BriefFact]:
    """What reaches the model and the loss: medians over the samples."""
    curves = [(name, curve) for name in _BATCHES if (curve := case.curve(name)) is not None and len(curve)]
    if curves:
        parts = [f"{name} {rounded(float(np.median(curve.y)), 3)}" for name, curve in curves]
        yield BriefFact("batches", f"medians {', '.join(parts)}", 6, tuple(curve.name for _, curve in curves))


def _samples(case: Case) -> Iterator[BriefFact]:
    """Single samples: repeated, relabelled, shared with validation, and how alike both sides are."""
    samples = case.inside.fact("samples")
    validation = part(samples, "validation")
    fingerprinted, distinct = number(samples, "taken"), number(samples, "distinct")
    parts = []
    if fingerprinted and distinct is not None:
        parts.append(f"{distinct:,.0f} different of {fingerprinted:,.0f} fingerprinted")
    for key, remark in (("twice_in_a_batch", "twice in a batch"), ("relabelled", "with another label later")):
        if (value := number(samples, key)) is not None:
            parts.append(f"{value:,.0f} {remark}")
    if (trained_on := number(validation, "known")) is not None:
        checked = number(validation, "taken") or 0.0
        parts.append(f"{trained_on:,.0f} of {checked:,.0f} checked of validation trained on")
    if (shift := number(validation, "shift")) is not None:
        parts.append(f"validation inputs shifted by {rounded(shift)} std")
    if parts:
        rows = [item for item in {**samples, **validation}.items() if isinstance(item[1], int | float)]
        yield BriefFact("samples", ", ".join(parts), 7, table=table(("", ""), rows))


def _time(case: Case) -> Iterator[BriefFact]:
    times = spent(case)
    if times is not None:
        names = tuple(name for name in ("step_s", *PARTS) if name in case.run.series)
        yield BriefFact("time", time_sentence(times), 7, names, picture="time")
    elif (speed := case.curve("step_s")) is not None and len(speed):
        yield BriefFact("time", f"{short(float(np.median(speed.y)))} s a step", 7, (speed.name,))
    crowding = case.inside.crowding
    if crowding > 1.5:
        text = f"{short(crowding)} processes wanted each core: times are longer by that"
        yield BriefFact("machine", text, 4)


def _memory(case: Case) -> Iterator[BriefFact]:
    for name, owner in (("rss_bytes", "process"), ("gpu_mem_bytes", "device")):
        curve = case.curve(name)
        if curve is not None and len(curve):
            ends = (curve.y[0], curve.y[-1], curve.y.max())
            first, last, peak = (f"{value / 2**20:,.0f}" for value in ends)
            text = f"{owner} {first} -> {last} MiB, at most {peak}"
            yield BriefFact("memory", text, 5, (curve.name,))
