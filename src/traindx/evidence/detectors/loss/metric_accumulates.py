"""A logged loss is a running sum, not what the model has.

A sum of positive losses starts at one of them and grows by about the same amount each time: a straight
line through zero, or, while the true loss falls, a curve that bends down and never turns. Also seen:
sums that start anew with each epoch (a sawtooth of such lines). A real divergence speeds up, jitters, or
starts from the usual level. A validation loss that falls meanwhile makes it certain.

Silent with fewer than {min_points} points, for terms that grow by nature (KL, entropy), and for RL and GAN
losses. Known mistakes: a curriculum that makes the task harder at a steady pace from nothing.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, FloatArray, Runs, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.evidence.validation import evaluations, last_level
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Logged value is a running sum",
    needs=("loss|val/loss",),
    family="metric",
    explains=(
        "loss_diverges",
        "loss_drifts_up",
        "loss_spikes",
        "loss_spikes_recurring",
        "oscillation",
        "rise_follows_lr",
        "spikes_periodic",
        "validation_parts",
    ),
    guards=("surrogate", "elbo"),
)


def detect(
    case: Case, *, straightness: float = 0.995, growth_factor: float = 5.0, min_points: int = 10
) -> Detected:
    names = [
        f"{split}loss{scope}" for split in ("", "val/", "test/") for scope in ("", "@step", "@epoch", "@mean")
    ]
    curves = [curve for name in names if name in case.run.series and (curve := case.curve(name)) is not None]
    curves = [curve for curve in {id(c): c for c in curves}.values() if len(curve) >= min_points]
    if not curves:
        return Skipped(f"at least {min_points} values of a loss")
    for curve in curves:
        if not (curve.y >= 0).all() or not curve.y.max() > 0:
            continue
        shape = (
            _line_through_zero(curve, straightness, growth_factor)
            or _sum(curve, growth_factor)
            or _sawtooth(curve, min_points)
            or _against_validation(case, curve)
        )
        if shape:
            return _finding(case, curve, shape)
    return None


def _finding(case: Case, curve: Curve, shape: str) -> Finding:
    words = f"{curve.name} {shape}, not a mean."
    val = case.val_loss
    certain = False
    if val is not None and val.name != curve.name and len(val) >= 4:
        _, values = evaluations(val)
        certain = last_level(values) < float(values[0])
        if certain:
            first, last = text(float(values[0])), text(float(values[-1]))
            words += f" The validation loss fell meanwhile, from {first} to {last}."
    return Finding(
        words,
        "silent_defect",
        "medium",
        step=float(curve.x[0]),
        end=float(curve.x[-1]),
        series=curve.name,
        strength=1.0 if certain else 0.7,
        numbers={"metric": curve.name, "first": float(curve.y[0]), "last": float(curve.y[-1])},
    )


def _against_validation(case: Case, curve: Curve) -> str | None:
    """A training loss that only ever rises while the validation loss falls far cannot be a mean."""
    val = case.val_loss
    if val is None or curve.name.startswith(("val/", "test/")) or len(val) < 6:
        return None
    levels = curve.coarse.median
    rising = float((np.diff(levels) > 0).mean())
    _, values = evaluations(val)
    if rising < 0.95 or levels[-1] < 1.3 * levels[0] or last_level(values) > 0.5 * float(values[0]):
        return None
    first, last = text(float(levels[0])), text(float(levels[-1]))
    return f"rises in {rising:.0%} of its stretches, from {first} to {last}: a sum"


def _line_through_zero(curve: Curve, straight: float, grows: float) -> str | None:
    """A rise along a straight line that begins at nothing."""
    x, y = curve.coarse.step, curve.coarse.median
    size = float(y.max())
    if not size > 0:
        return None
    y = y / size
    if y[-1] < grows * max(float(y[0]), 1e-300) and y[0] > 0:
        return None
    centred = x - x.mean()
    power = float(centred @ centred)
    if power <= 0 or y[-1] <= 0:
        return None
    slope = float(centred @ (y - y.mean())) / power
    residuals = y - y.mean() - slope * centred
    fit = 1.0 - float(residuals @ residuals) / max(float(((y - y.mean()) ** 2).sum()), 1e-300)
    gap = float(np.median(np.diff(x)))
    at_start = float(y.mean()) + slope * (float(x[0]) - gap - float(x.mean()))
    if slope <= 0 or fit < straight or abs(at_start) > 0.06 * float(y[-1]) or x.size < 10:
        return None
    first, last = text(size * float(y[0])), text(size * float(y[-1]))
    return (
        f"grows along a straight line through zero (R2 {fit:.4f}), from {first} to {last}: a running sum "
        "that is never reset"
    )


def _sum(curve: Curve, grows: float) -> str | None:
    """Only ever up, from a first value the size of one step up, and never faster."""
    y = curve.y
    steps = np.diff(y)
    if (steps < 0).any() or y[-1] < 2.0 * grows * y[0] or not _sums_up(y, steps):
        return None
    first, last = text(float(y[0])), text(float(y[-1]))
    return (
        f"never falls and starts at the size of one step up ({first}), reaching {last}: a running sum "
        "that is never reset"
    )


def _sums_up(y: FloatArray, steps: FloatArray) -> bool:
    """Whether values look like sums of positive amounts that shrink or stay."""
    early = float(np.median(steps[:3]))
    half = steps.size // 2
    slowing = float(np.median(steps[half:])) <= 1.3 * float(np.median(steps[:half]))
    return early > 0 and 0.5 * early <= float(y[0]) <= 2.0 * early and slowing


def _sawtooth(curve: Curve, least: int) -> str | None:
    """Sums that start anew: long climbs, each from the size of one step, cut by falls to nearly nothing."""
    y = curve.y
    cuts = np.flatnonzero(y[1:] < 0.3 * y[:-1]) + 1
    if cuts.size < 2:
        return None
    edges = np.concatenate([[0], cuts, [y.size]])
    lengths = np.diff(edges)
    if np.median(lengths) < least or lengths[:-1].min() < 5:
        return None
    picked = np.linspace(0, lengths.size - 1, min(20, lengths.size)).astype(np.int64)
    climbs = []
    for k in picked:
        part = y[edges[k] : edges[k + 1]]
        steps = np.diff(part)
        climbs.append(steps.size > 3 and bool((steps >= 0).all()) and _sums_up(part, steps))
    if np.mean(climbs) < 0.8:
        return None
    first = float(curve.x[cuts[0]])
    return (
        f"climbs from the size of one step {lengths.size} times and is set back in between, first at "
        f"{where(curve, first)}: a running sum, restarted each time"
    )


def fires() -> Runs:
    line = noisy(np.arange(1, 626) * 4.6e-5, 0.02)
    yield run({"loss": line, "val/loss": (np.arange(62) * 10, decay(62, 0.029, 0.0137))})
    yield run({"loss": np.cumsum(noisy(decay(300, 2.3, 0.2), 0.1))})
    yield run({"loss": np.concatenate([np.cumsum(noisy(np.full(100, 0.5), 0.1, seed=k)) for k in range(4)])})


def silent() -> Runs:
    yield run({"loss": noisy(decay(300, 2.0, 0.5), 0.05)})
    yield run({"loss": noisy(np.linspace(1.0, 3.0, 300), 0.05)})
    yield run({"loss": noisy(np.geomspace(0.01, 100.0, 300), 0.02)})
    yield run({"loss": np.tile(decay(100, 1.0, 0.5), 4)})
    yield run({"loss": 3.0 - decay(300, 2.9, 0.0)})
