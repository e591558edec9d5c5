"""Weight decay and the optimizer's epsilon next to the gradients."""

from collections.abc import Mapping

import numpy as np

from traindx.core.facts import facts, number, word
from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Finding,
    FloatArray,
    Run,
    Skipped,
)
from traindx.evidence.detectors._layers import all_matrices, chain, model, settled
from traindx.evidence.detectors._number_text import percent, strength, text, times
from traindx.evidence.detectors._settings import written
from traindx.testing.sketch import decay, noisy, run

_DIVIDE = frozenset({"Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop"})


@Detector("Weight decay dominates", needs=("fact:optimizers", "weight_norm/*"), family="decay_dominates")
def decay_dominates(
    case: Case,
    lr_value: float,
    *,
    coupled_ratio: float = 1.0,
    ratio_of_shrunken: float = 0.2,
    decoupled_ratio: float = 0.6,
    weight_shrink: float = 0.3,
    loss_left: float = 0.3,
    min_samples: int = 3,
) -> Detected:
    """Weight decay moves the weights more than the gradients do.

    With decay in the gradient (SGD, Adam with L2) the pull of decay, its factor times the weights, is
    compared with the gradient itself; with decay apart from it (AdamW) the shrinking, rate times factor,
    with what the step changed in all. Seen when decay has the larger part ({coupled_ratio} times the
    gradient, or {decoupled_ratio} of the step) in the typical layer, and takes at least {weight_shrink} of
    the weights away, by its rate or as seen. Decay in the gradient pulls the same way at every step, while
    gradients of batches cancel: {ratio_of_shrunken} times the gradient is enough where half of the weights is
    gone. It is trouble when the loss does not come down, or stands at more than {loss_left} of its first
    value while the weights have shrunk, or for half of the run where the answers are hardly better than those
    of simple models; never where they have grown, or where the model is far ahead of simple ones.

    Silent about ordinary decay, which balances the gradient only when all is learned: the first half of the
    samples counts. Known mistakes: gradients that vanish for another reason leave nothing but decay.
    """
    norms = chain(case, "weight_norm", least=min_samples)
    groups = [(o, group) for o in case.inside.optimizers for group in facts(o.get("groups"))]
    if not norms or not groups:
        return Skipped(f"{min_samples} samples of the weights, and the optimizer's groups")
    optimizer, group = max(groups, key=lambda pair: number(pair[1], "weight_decay") or 0.0)
    decay = number(group, "weight_decay") or 0.0
    decayed = 1 - float(np.exp(-lr_value * decay * max(1.0, case.span[1] - case.span[0])))
    size = float(np.median([curve.y[-1] / curve.y[0] for curve in norms.values() if curve.y[0] > 0] or [1.0]))
    if decay <= 0 or max(decayed, 1 - size) < weight_shrink:
        return None
    decoupled = _decoupled(optimizer, group)
    parts = _parts(case, norms, lr_value * decay if decoupled else decay, min_samples, decoupled)
    if not parts:
        return Skipped(f"{min_samples} samples of what moves the weights")
    part, halved = float(np.median(parts)), not decoupled and size <= 0.5
    if part < (decoupled_ratio if decoupled else ratio_of_shrunken if halved else coupled_ratio):
        return None
    effect = (
        f"makes up {percent(min(part, 1.0))} of each step"
        if decoupled
        else f"pulls {times(part)} as hard as the gradient"
    )
    slow = case.harm.suffers and size <= 1
    stop = case.harm.standstill
    compared = case.level.against_simple
    behind = compared is not None and not case.level.far_ahead
    stands = _stands_high(case, loss_left) and not case.level.far_ahead
    rests = halved and behind and stop is not None and stop.share >= 0.5
    low = not slow and size <= 1 - weight_shrink and (stands or rests)
    return Finding(
        text=f"Weight decay {text(decay)} {effect} in the typical layer; at the last sample its weights have "
        f"{percent(size)} of the size they began with.",
        symptom="not_learning" if slow else "underfitting" if low else None,
        severity="medium" if slow or low else "low",
        strength=strength(part, decoupled_ratio, 0.9) if decoupled else strength(part, coupled_ratio, 10.0),
        numbers={"weight_decay": decay, "decay_part": part, "weights_left": size},
    )


# A layer whose first gradient is below this share of the largest never got one: decay is not to blame.
_REACHED = 1e-3


def _stands_high(case: Case, high: float) -> bool:
    """Whether much of the first loss is left and nothing of it goes any more."""
    loss = case.loss
    if loss is None or case.surrogate or len(loss) < 50 or loss.head <= 0:
        return False
    return loss.tail > high * loss.head and not loss.course.still_falls()


def _decoupled(optimizer: Mapping[str, object], group: Mapping[str, object]) -> bool:
    flag = group.get("decoupled_weight_decay")
    name = str(optimizer.get("class", "")).lower()
    return flag is True or "adamw" in name or "lion" in name or "muon" in name


def _first_half(curve: Curve) -> FloatArray:
    """Late in a run that has learned all, little but decay is left."""
    values = settled(curve)
    return values[: max(3, values.size // 2)]


def _parts(case: Case, norms: Mapping[str, object], pull: float, least: int, decoupled: bool) -> list[float]:
    against = chain(case, "update_ratio" if decoupled else "grad_norm", least=least)
    largest = max((float(curve.y[0]) for curve in against.values()), default=0.0)
    against = {name: curve for name, curve in against.items() if curve.y[0] > _REACHED * largest}
    parts = []
    for name, curve in chain(case, "weight_norm", least=least).items():
        opposing = against.get(name)
        if name not in norms or opposing is None:
            continue
        size = 1.0 if decoupled else float(np.median(_first_half(curve)))
        moved = float(np.median(_first_half(opposing)))
        if moved > 0 and size > 0:
            parts.append(pull * size / moved)
    return parts


@Detector(
    "Weights fade away",
    needs=("fact:optimizers", "weight_norm/*"),
    family="weight_decay_seen",
    harms="learning",
)
def weights_fade(
    case: Case, *, left: float = 0.02, min_layers_share: float = 0.3, min_samples: int = 4
) -> Detected:
    """The weights of many layers shrink to almost nothing while the model trains.

    Seen when {min_layers_share:%} or more of the layers end with {left:%} or less of the size they began
    with: no gradient does that, but weight decay or a penalty that outweighs the gradients, as L2 in Adam
    does to embeddings that few samples touch. Trouble where the training suffers.

    Silent about layers that begin near zero, and under {min_samples} samples of the weights.
    """
    norms = {
        name: curve
        for name, curve in case.inside.layers("weight_norm").items()
        if len(curve) >= min_samples and curve.y[0] > 1e-3
    }
    if not norms:
        return Skipped(f"{min_samples} samples of the weights")
    faded = {name: curve for name, curve in norms.items() if curve.y[-1] <= left * curve.y[0]}
    if len(faded) < max(1.0, min_layers_share * len(norms)):
        return None
    name, worst = min(faded.items(), key=lambda item: float(item[1].y[-1] / item[1].y[0]))
    step = next(float(x) for x, y in zip(worst.x, worst.y, strict=True) if y <= left * worst.y[0])
    return Finding(
        f"The weights of {len(faded)} of {len(norms)} layers fade away: those of {name} go from a norm of "
        f"{text(float(worst.y[0]))} to {text(float(worst.y[-1]))}, under {percent(left)} of it by step "
        f"{step:g}.",
        "not_learning",
        "high",
        step,
        series=worst.name,
        numbers={"layers": len(faded), "weights_left": float(worst.y[-1] / worst.y[0])},
    )


def _decayed(kind: str, decay: float, ratio: float, gradient: float, end: float = 1.0) -> Run:
    series: dict[str, list[float]] = {"loss": [1.6] * 200, "lr": [0.001] * 200}
    for name in (0, 2, 4):
        series |= {f"weight_norm/{name}": [5.0, 5.0, 5.0, end], f"update_ratio/{name}": [ratio] * 4}
        series[f"grad_norm/{name}"] = [gradient] * 4
    optimizers = [{"class": kind, "groups": [{"lr": 0.001, "weight_decay": decay}]}]
    return run(series, facts=model([[32, 8], [32, 32], [4, 32]]) | {"optimizers": optimizers})


@Detector(
    "Epsilon above the gradients", needs=("fact:optimizers", "grad_norm/*"), family="momentum", harms="pace"
)
def epsilon_swamps(
    case: Case, *, epsilon_to_gradient: float = 10.0, usual_epsilon: float = 1e-6, min_samples: int = 3
) -> Detected:
    """Adam's epsilon is far above the gradients: it divides every step down.

    Adam divides by the size of the gradients plus epsilon, so that steps are about as long as the learning
    rate says. Seen when epsilon is {epsilon_to_gradient} times the gradient of a typical weight or more,
    even in the sample with the largest gradients: steps are shorter than the rate says by that factor.
    Trouble when the loss hardly comes down or falls like a ramp.

    Silent for an epsilon of {usual_epsilon} or less: next to it, gradients that small have vanished for
    another reason. Known mistakes: an epsilon made large on purpose, with a rate that makes up for it.
    """
    epsilon = _epsilon(case)
    if epsilon is None:
        return Skipped("an optimizer that divides by the size of the gradients")
    if epsilon <= usual_epsilon:
        return None
    gradient = _largest(case, min_samples)
    if gradient is None:
        return Skipped(f"{min_samples} samples of the gradients of layers")
    ratio = epsilon / gradient
    if ratio < epsilon_to_gradient:
        return None
    return Finding(
        f"The optimizer's epsilon {text(epsilon)} is {times(ratio)} the gradient of a typical weight, "
        f"{text(gradient)} at most: steps are that much shorter than the learning rate says.",
        symptom="slow_convergence",
        strength=strength(ratio, epsilon_to_gradient / 2, 5 * epsilon_to_gradient),
        numbers={"eps": epsilon, "gradient": gradient},
        places=written(case, "eps"),
    )


def _epsilon(case: Case) -> float | None:
    """The smallest of the groups of the only optimizer."""
    if len(case.inside.optimizers) != 1 or word(case.inside.optimizers[0], "class") not in _DIVIDE:
        return None
    epsilons = [number(group, "eps") for group in facts(case.inside.optimizers[0].get("groups"))]
    values = [value for value in epsilons if value is not None]
    return min(values) if values else None


def _largest(case: Case, least: int) -> float | None:
    """The gradient of a typical weight of the typical layer, in the look where it was largest."""
    curves = case.inside.layers("grad_norm")
    sizes = {matrix.name: matrix.elements for matrix in all_matrices(case)}
    gradients = [curves[name].y / sizes[name] ** 0.5 for name in curves if name in sizes]
    gradients = [values for values in gradients if values.size >= least]
    if not gradients:
        return None
    shared = min(values.size for values in gradients)
    largest = float(np.median([values[:shared] for values in gradients], axis=0).max())
    return largest if largest > 0 else None


def _run(epsilon: float, norm: float, end: float = 1.0, optimizer: str = "Adam") -> Run:
    facts = model([[32, 8], [32, 32], [4, 32]])
    facts["optimizers"] = [{"class": optimizer, "groups": [{"lr": 0.001, "eps": epsilon}]}]
    layers = {f"grad_norm/{name}": noisy([norm] * 9, 0.1) for name in (0, 2, 4)}
    return run({"loss": noisy(decay(200, 1.0, end), 0.02), **layers}, facts=facts)


def _fading(end: float) -> Run:
    norms = {f"weight_norm/{name}": [5.0, 3.0, 1.0, end] for name in ("emb", "fc1", "fc2")}
    return run({"loss": noisy(np.full(100, 0.7), 0.01), **norms}, facts={"optimizers": [{"class": "Adam"}]})


def cases() -> Cases:
    yield from weights_fade.fires(_fading(0.01))
    yield from weights_fade.silent(_fading(0.4), run({"weight_norm/norm": [0.0, 0.0, 0.0, 0.0]}))
    yield from decay_dominates.fires(_decayed("AdamW", 50.0, 0.055, 0.1), _decayed("Adam", 3.0, 0.01, 0.1))
    yield from decay_dominates.silent(_decayed("AdamW", 0.01, 0.005, 0.1, 4.9))
    yield from decay_dominates.silent(_decayed("AdamW", 0.01, 1e-5, 0.1, 4.9))
    yield from decay_dominates.silent(_decayed("SGD", 5e-4, 0.005, 0.001, 4.0))
    yield from epsilon_swamps.fires(_run(1.0, 0.3), _run(1e-3, 1e-4))
    yield from epsilon_swamps.silent(_run(1e-8, 1e-9), _run(1e-3, 0.3, 0.1), _run(1.0, 0.3, optimizer="SGD"))
