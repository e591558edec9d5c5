"""Weight decay moves the weights more than the gradients do.

With decay in the gradient (SGD, Adam with L2) the pull of decay, its factor times the weights, is compared
with the gradient itself; with decay apart from it (AdamW) the shrinking, rate times factor, with what the
step changed in all. Seen when decay has the larger part ({coupled_ratio} times the gradient, or
{decoupled_ratio} of the step) in the typical layer, and takes at least {weight_shrink} of the weights away,
by its rate or as seen. It is trouble when the loss does not come down, or stands at more than {loss_left} of
its first value while the weights have shrunk.

Silent about ordinary decay, which balances the gradient only when all is learned: the first half of the looks
counts.
Known mistakes: gradients that are dead for another reason leave decay alone on the field.
"""

from collections.abc import Mapping

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, FloatArray, Run, Runs, Skipped
from traindx.evidence.detectors._layers import chain, settled
from traindx.evidence.detectors._number_text import percent, strength, text, times
from traindx.evidence.inside import facts, number
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Weight decay dominates", needs=("fact:optimizers", "weight_norm/*"), family="decay_dominates"
)


def detect(
    case: Case,
    lr_value: float,
    *,
    coupled_ratio: float = 1.0,
    decoupled_ratio: float = 0.6,
    weight_shrink: float = 0.3,
    loss_left: float = 0.3,
    min_samples: int = 3,
) -> Detected:
    norms = chain(case, "weight_norm", looks=min_samples)
    held = [(one, group) for one in case.inside.optimizers for group in facts(one.get("groups"))]
    if not norms or not held:
        return Skipped(f"{min_samples} samples of the weights, and the optimizer's groups")
    optimizer, group = max(held, key=lambda pair: number(pair[1], "weight_decay") or 0.0)
    decay = number(group, "weight_decay") or 0.0
    taken = 1 - float(np.exp(-lr_value * decay * max(1.0, case.span[1] - case.span[0])))
    left = float(np.median([curve.y[-1] / curve.y[0] for curve in norms.values() if curve.y[0] > 0] or [1.0]))
    if decay <= 0 or max(taken, 1 - left) < weight_shrink:
        return None
    decoupled = _decoupled(optimizer, group)
    parts = _parts(case, norms, lr_value * decay if decoupled else decay, min_samples, decoupled)
    if not parts:
        return Skipped(f"{min_samples} samples of what moves the weights")
    part = float(np.median(parts))
    if part < (decoupled_ratio if decoupled else coupled_ratio):
        return None
    what = (
        f"makes up {percent(min(part, 1.0))} of each step"
        if decoupled
        else f"pulls {times(part)} as hard as the gradient"
    )
    slow = case.harm.suffers
    low = not slow and left <= 1 - weight_shrink and _stands_high(case, loss_left)
    return Finding(
        text=f"Weight decay {text(decay)} {what} in the typical layer; at the last sample its weights have "
        f"{percent(left)} of the size they began with.",
        symptom="not_learning" if slow else "underfitting" if low else None,
        severity="medium" if slow or low else "low",
        strength=strength(part, decoupled_ratio, 0.9) if decoupled else strength(part, coupled_ratio, 10.0),
        numbers={"weight_decay": decay, "decay_part": part, "weights_left": left},
    )


def _stands_high(case: Case, high: float) -> bool:
    """Whether much of the first loss is left and nothing of it goes any more."""
    loss = case.loss
    if loss is None or case.surrogate or len(loss) < 50 or loss.head <= 0:
        return False
    return loss.tail > high * loss.head and not loss.course.still_falls()


def _decoupled(optimizer: Mapping[str, object], group: Mapping[str, object]) -> bool:
    said = group.get("decoupled_weight_decay")
    name = str(optimizer.get("class", "")).lower()
    return said is True or "adamw" in name or "lion" in name or "muon" in name


def _first_half(curve: Curve) -> FloatArray:
    """Late in a run that has learned all, little but decay is left."""
    values = settled(curve)
    return values[: max(3, values.size // 2)]


def _parts(case: Case, norms: Mapping[str, object], pull: float, looks: int, decoupled: bool) -> list[float]:
    against = chain(case, "update_ratio" if decoupled else "grad_norm", looks=looks)
    found = []
    for name, curve in chain(case, "weight_norm", looks=looks).items():
        other = against.get(name)
        if name not in norms or other is None:
            continue
        size = 1.0 if decoupled else float(np.median(_first_half(curve)))
        moved = float(np.median(_first_half(other)))
        if moved > 0 and size > 0:
            found.append(pull * size / moved)
    return found


def _decayed(kind: str, decay: float, ratio: float, gradient: float, end: float = 1.0) -> Run:
    from traindx.evidence.detectors._layers import model

    series: dict[str, list[float]] = {"loss": [1.6] * 200, "lr": [0.001] * 200}
    for name in (0, 2, 4):
        series |= {f"weight_norm/{name}": [5.0, 5.0, 5.0, end], f"update_ratio/{name}": [ratio] * 4}
        series[f"grad_norm/{name}"] = [gradient] * 4
    held = [{"class": kind, "groups": [{"lr": 0.001, "weight_decay": decay}]}]
    return run(series, facts=model([[32, 8], [32, 32], [4, 32]]) | {"optimizers": held})


def fires() -> Runs:
    yield _decayed("AdamW", 50.0, 0.055, 0.1)
    yield _decayed("Adam", 3.0, 0.01, 0.1)


def silent() -> Runs:
    yield _decayed("AdamW", 0.01, 0.005, 0.1, 4.9)
    yield _decayed("AdamW", 0.01, 1e-5, 0.1, 4.9)
    yield _decayed("SGD", 5e-4, 0.005, 0.001, 4.0)
