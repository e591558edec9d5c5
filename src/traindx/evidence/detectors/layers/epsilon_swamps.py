"""Adam's epsilon is far above the gradients: it divides every step down.

Adam divides by the size of the gradients plus epsilon, so that steps are about as long as the learning rate
says. Seen when epsilon is {epsilon_to_gradient} times the gradient of a typical weight or more, even in the
look with the largest gradients: steps are shorter than the rate says by that factor. Trouble when the loss
hardly comes down or falls like a ramp.

Silent for an epsilon of {usual_epsilon} or less: beside it, gradients that small have vanished for another
reason. Known mistakes: an epsilon made large on purpose, with a rate that makes up for it.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._layers import all_matrices
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.detectors._settings import written
from traindx.evidence.inside import facts, number, word
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Epsilon above the gradients",
    needs=("fact:optimizers", "grad_norm/*"),
    family="momentum",
    harms="pace",
)
_DIVIDE = frozenset({"Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop"})


def detect(
    case: Case, *, epsilon_to_gradient: float = 10.0, usual_epsilon: float = 1e-6, min_samples: int = 3
) -> Detected:
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
        severity="medium",
        strength=strength(ratio, epsilon_to_gradient / 2, 5 * epsilon_to_gradient),
        numbers={"eps": epsilon, "gradient": gradient},
        places=written(case, "eps"),
    )


def _epsilon(case: Case) -> float | None:
    """The smallest of the groups of the only optimizer."""
    if len(case.inside.optimizers) != 1 or word(case.inside.optimizers[0], "class") not in _DIVIDE:
        return None
    told = [number(group, "eps") for group in facts(case.inside.optimizers[0].get("groups"))]
    known = [one for one in told if one is not None]
    return min(known) if known else None


def _largest(case: Case, looks: int) -> float | None:
    """The gradient of a typical weight of the typical layer, in the look where it was largest."""
    curves = case.inside.layers("grad_norm")
    sizes = {one.name: one.elements for one in all_matrices(case)}
    found = [curves[name].y / sizes[name] ** 0.5 for name in curves if name in sizes]
    found = [values for values in found if values.size >= looks]
    if not found:
        return None
    shared = min(values.size for values in found)
    largest = float(np.median([values[:shared] for values in found], axis=0).max())
    return largest if largest > 0 else None


def _run(epsilon: float, norm: float, end: float = 1.0, optimizer: str = "Adam") -> Run:
    from traindx.evidence.detectors._layers import model

    told = model([[32, 8], [32, 32], [4, 32]])
    told["optimizers"] = [{"class": optimizer, "groups": [{"lr": 0.001, "eps": epsilon}]}]
    layers = {f"grad_norm/{name}": noisy([norm] * 9, 0.1) for name in (0, 2, 4)}
    return run({"loss": noisy(decay(200, 1.0, end), 0.02), **layers}, facts=told)


def fires() -> Runs:
    yield _run(1.0, 0.3)
    yield _run(1e-3, 1e-4)


def silent() -> Runs:
    yield _run(1e-8, 1e-9)
    yield _run(1e-3, 0.3, 0.1)
    yield _run(1.0, 0.3, optimizer="SGD")
