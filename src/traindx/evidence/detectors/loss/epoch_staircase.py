"""The training loss drops at each epoch boundary and hardly between: samples are remembered.

At every boundary between epochs the level of the loss shortly before is compared with the level shortly
after, and what the slope inside the epochs would have done is taken away. Seen when most boundaries from
the first on show a drop beyond noise, and when the drops make up most of the fall after the first epoch.
Medium when the loss at least halved after the first epoch and no validation is there to tell, or when the
validation loss rises; otherwise low.

Silent with fewer than {min_boundaries} boundaries or fewer than {points_per_epoch} points per epoch, for
running means that start anew with each epoch, at boundaries where the learning rate was cut, when the loss
climbs back inside the epochs (ordered data repeat the same pattern), and for RL and GAN losses. Known
mistakes: an epoch length from the settings that is not the true one hides the staircase.
"""

from dataclasses import dataclass

import numpy as np

from traindx.core.nouns import Severity
from traindx.evidence.case import Case, Curve
from traindx.evidence.detector import BoolArray, Detected, Detector, Finding, FloatArray, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import percent, strength, text, where
from traindx.evidence.validation import evaluations, last_level, validation_curves
from traindx.testing.sketch import decay, noisy, run

# Of hundreds of epochs so many boundaries are looked at, spread evenly.
_LOOKED_AT = 40

DETECTOR = Detector(title="Staircase at epoch boundaries", family="memorising", guards=("surrogate",))


@dataclass(frozen=True)
class _Steps:
    """Per boundary: the drop in log loss beyond the slope inside the epochs, and its standard error."""

    edge: FloatArray
    drop: FloatArray
    error: FloatArray
    inside: float
    fresher: float


def detect(
    case: Case,
    loss: Curve,
    *,
    min_boundaries: int = 3,
    points_per_epoch: int = 8,
    min_drop: float = 0.03,
    boundaries_with_drop: float = 0.7,
    z_score: float = 6.0,
) -> Detected:
    if not len(loss):
        return Skipped("a training loss")
    edges = _boundaries(case, loss)
    if edges.size < min_boundaries or len(loss) < points_per_epoch * (edges.size + 1):
        return Skipped(f"at least {min_boundaries + 1} epochs of {points_per_epoch} training losses each")
    if loss.name.endswith(("@mean", "@bar")) or not (loss.y > 0).all():
        return None
    steps = _measure(loss, edges, points_per_epoch)
    if steps is None or steps.drop.size < min_boundaries or steps.fresher < 0.4:
        return None
    uncut = ~_rate_cut(case, steps.edge)
    sizes, errors = steps.drop[uncut], steps.error[uncut]
    if sizes.size < min_boundaries:
        return None
    clear = (sizes > 2.0 * errors) & (sizes > min_drop)
    total = float(sizes.sum() / np.sqrt((errors**2).sum()))
    fall = float(np.log(_level_before(loss, edges[0]) / loss.tail))
    by_drops = float(steps.drop.mean()) * edges.size / fall if fall > 0 else 0.0
    if (
        clear.mean() < boundaries_with_drop
        or total < z_score
        or float(np.median(sizes)) < 4.0 * abs(steps.inside)
    ):
        return None
    if not 0.5 <= by_drops <= 1.5:
        return None
    return _finding(case, loss, edges, sizes, clear, fall)


def _finding(
    case: Case, loss: Curve, edges: FloatArray, sizes: FloatArray, clear: BoolArray, fall: float
) -> Finding:
    validated = validation_curves(case)
    rises = bool(validated) and _validation_rises(case)
    severity: Severity = "medium" if fall >= np.log(2.0) and (rises or not validated) else "low"
    # What is remembered does harm from where validation was best.
    start = max(float(edges[0]), validated[0].best_point[0] if rises else 0.0)
    middle = 1.0 - float(np.exp(-np.median(sizes)))
    return Finding(
        f"The training loss drops by {percent(middle)} at epoch boundaries ({int(clear.sum())} of "
        f"{clear.size}) and hardly between them: from {text(_level_before(loss, edges[0]))} before the first "
        f"boundary ({where(loss, float(edges[0]))}) to {text(loss.tail)} at the end.",
        "overfitting",
        severity,
        step=start,
        series=loss.name,
        strength=strength(middle, 0.03, 0.3),
        numbers={"drops": int(clear.sum()), "boundaries": int(clear.size), "drop": middle},
        marks=tuple(float(edge) for edge in edges[:20]),
    )


def _boundaries(case: Case, loss: Curve) -> FloatArray:
    """Steps at which a new epoch begins, on the axis of the loss, inside its range."""
    first, last = float(loss.x[0]), float(loss.x[-1])
    epoch, length = case.curve("epoch"), case.epoch_length
    if loss.axis == "epoch":
        edges = _whole(first, last, len(loss))
    elif epoch is not None and len(epoch) > 1 and epoch.axis == loss.axis:
        epochs = np.maximum.accumulate(epoch.y)
        whole = _whole(float(epochs[0]), float(epochs[-1]), len(loss))
        if (epochs == np.round(epochs)).all():
            after = np.minimum(np.searchsorted(epochs, whole), len(epoch) - 1)
            edges = 0.5 * (epoch.x[after] + epoch.x[np.maximum(after - 1, 0)])
        else:
            edges = np.interp(whole, epochs, epoch.x)
    elif length and loss.axis == "step":
        edges = length * _whole(first / length, last / length, len(loss))
    else:
        return np.empty(0)
    inside: FloatArray = edges[(edges > first) & (edges < last)]
    return inside


def _whole(first: float, last: float, max_count: int) -> FloatArray:
    """The whole numbers above one and up to another; none when they are more than `max_count`."""
    return np.arange(np.floor(first) + 1, np.floor(last) + 1) if last - first <= max_count else np.empty(0)


def _measure(loss: Curve, edges: FloatArray, dense: int) -> _Steps | None:
    """Levels in the last and first two fifths of neighbouring epochs, and the slope inside."""
    ends = np.concatenate([[0], np.searchsorted(loss.x, edges, side="right"), [loss.y.size]])
    lengths = np.diff(ends)
    if (lengths[:-1] < dense).any():
        return None
    boundaries = np.arange(1, lengths.size if lengths[-1] >= dense else lengths.size - 1)
    if boundaries.size > _LOOKED_AT:
        boundaries = boundaries[np.linspace(0, boundaries.size - 1, _LOOKED_AT).astype(np.int64)]
    rows = [
        _around(np.log(loss.y[ends[k - 1] : ends[k]]), np.log(loss.y[ends[k] : ends[k + 1]]))
        for k in boundaries
    ]
    if not rows:
        return None
    across, inside, error, noise_first, noise_last = (np.array(column) for column in zip(*rows, strict=True))
    slope = float(np.median(inside))
    # Inside an epoch the windows lie three fifths apart, across a boundary two fifths.
    drops = across - max(slope, 0.0) * (0.4 / 0.6)
    fresher = float(np.median(noise_last) / max(float(np.median(noise_first)), 1e-300))
    return _Steps(edges[boundaries - 1], drops, np.maximum(error, 1e-12), slope, fresher)


def _around(old: FloatArray, new: FloatArray) -> tuple[float, float, float, float, float]:
    """Of two neighbouring epochs: fall across and inside, error, noise at an epoch's start and end."""
    before = old[-max(3, int(0.4 * old.size)) :]
    part = max(3, int(0.4 * new.size))
    head, tail = new[:part], new[-part:]
    (was, was_error), (starts, starts_error) = stats.level(before), stats.level(head)
    inside = starts - float(np.median(tail))
    tenth = max(4, new.size // 10)
    return (
        was - starts,
        inside,
        float(np.hypot(was_error, starts_error)),
        stats.noise(new[:tenth]),
        stats.noise(new[-tenth:]),
    )


def _rate_cut(case: Case, edges: FloatArray) -> BoolArray:
    """At which boundaries the learning rate was cut by a fifth or more."""
    rate = case.lr
    if rate is None or len(rate) < 2:
        return np.zeros(edges.size, dtype=bool)
    gap = float(np.median(np.diff(rate.x)))
    before = np.interp(edges - 2 * gap, rate.x, rate.y)
    after = np.interp(edges + 2 * gap, rate.x, rate.y)
    cut: BoolArray = after < 0.8 * before
    return cut


def _level_before(loss: Curve, step: float) -> float:
    values = loss.before(step)
    return float(np.median(values[-max(3, values.size // 3) :])) if values.size else loss.head


def _validation_rises(case: Case) -> bool:
    val = case.val_loss
    if val is None or len(val) < 4 or not (val.y > 0).all():
        return False
    _, values = evaluations(val)
    return last_level(values) > 1.05 * float(values.min()) and int(values.argmin()) < values.size - 2


def fires() -> Runs:
    stairs = np.repeat([0.6, 0.4, 0.25, 0.16, 0.1], 200)
    yield run({"loss": noisy(stairs, 0.15), "epoch": np.arange(1, 1001) / 200.0})
    yield run({"loss": noisy(1e5 * stairs, 0.1, seed=2), "epoch": np.arange(1000) // 200})


def silent() -> Runs:
    epoch = np.arange(1, 1001) / 200.0
    yield run({"loss": noisy(decay(1000, 2.0, 0.4), 0.1), "epoch": epoch})
    sawtooth = np.tile(np.linspace(1.2, 0.8, 200), 5) * np.repeat([1.0, 0.97, 0.95, 0.94, 0.93], 200)
    yield run({"loss": noisy(sawtooth[::-1][::-1], 0.05), "epoch": epoch})
    rising = np.tile(np.linspace(0.8, 1.2, 200), 5)
    yield run({"loss": noisy(rising, 0.05), "epoch": epoch})
    yield run({"loss": noisy(np.repeat([0.6, 0.4], 500), 0.1), "epoch": np.arange(1, 1001) / 500.0})
