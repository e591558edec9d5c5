"""Generated trainings with known truth, over noise kinds, noise levels, lengths and scales.

`HEALTHY` are shapes that look ill to a hasty eye; `SICK` are faults, each with the symptom that must be
named. A shape is a function of a random generator; the same seed gives the same run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from traindx.core.nouns import Run
from traindx.testing.sketch import run

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator
Shape = Callable[[Rng], Run]


def batch_noise(rng: Rng, n: int, *, most: float = 0.3) -> Floats:
    """Factors around 1 as minibatches make them: Gaussian, skewed, heavy-tailed or with memory."""
    size = math.exp(rng.uniform(math.log(0.005), math.log(most)))
    kind = rng.integers(4)
    if kind == 0:
        draw = rng.standard_normal(n)
    elif kind == 1:
        shape = 1 / size**2
        factors: Floats = rng.gamma(shape, 1 / shape, n)
        return factors
    elif kind == 2:
        draw = rng.standard_t(5, n) / math.sqrt(5 / 3)
    else:
        memory = rng.uniform(0.2, 0.8)
        draw = rng.standard_normal(n)
        for at in range(1, n):
            draw[at] = memory * draw[at - 1] + math.sqrt(1 - memory**2) * draw[at]
    made: Floats = np.exp(size * draw - size**2 / 2)
    return made


def length(rng: Rng, least: int = 30, most: int = 2000) -> int:
    return round(math.exp(rng.uniform(math.log(least), math.log(most))))


def scale(rng: Rng) -> float:
    return float(10 ** rng.uniform(-3, 3))


def falling(rng: Rng, n: int) -> Floats:
    """A loss from its start to a floor: exponential, power law, or both; 1 at the start."""
    at = np.arange(n) / n
    floor = rng.uniform(0.02, 0.6)
    if rng.random() < 0.5:
        shape = np.exp(-rng.uniform(3, 15) * at)
    else:
        shape = (1 + n * at) ** -rng.uniform(0.3, 0.8)
        shape = (shape - shape[-1] * rng.uniform(0, 1)) / (1 - shape[-1] * 0.5)
    made: Floats = floor + (1 - floor) * shape
    return made


def evaluations(rng: Rng, n: int, least: int = 8, most: int = 60) -> Floats:
    count = min(n, round(rng.uniform(least, most)))
    return np.unique(np.linspace(0, n - 1, count).astype(int)).astype(np.float64)


def schedule(rng: Rng, n: int) -> Floats:
    """Constant, cosine, linear or one-cycle, some with a warm-up."""
    at, peak = np.arange(n) / n, 10 ** rng.uniform(-4, -2)
    kind = rng.integers(4)
    shape = [np.ones(n), 0.5 * (1 + np.cos(np.pi * at)), 1 - at, np.minimum(at / 0.3, (1 - at) / 0.7)][kind]
    if kind < 3 and rng.random() < 0.5:
        shape = shape * np.minimum(1, at / 0.03 + 1e-3)
    return peak * np.maximum(shape, 1e-6)


def steps(n: int, every: int = 10) -> Floats:
    return np.arange(n, dtype=np.float64) * every


# ------------------------------------------------------------------------------------------ healthy
def plain(rng: Rng) -> Run:
    n = length(rng)
    size = scale(rng)
    series: dict[str, Any] = {"loss": (steps(n), size * falling(rng, n) * batch_noise(rng, n))}
    if rng.random() < 0.6:
        series["lr"] = (steps(n), schedule(rng, n))
    if rng.random() < 0.5:
        # A gradient norm goes with the size of the loss.
        norm = size * np.exp(rng.uniform(np.log(0.05), np.log(20.0)))
        series["grad_norm"] = (steps(n), norm * falling(rng, n) ** 0.3 * batch_noise(rng, n))
    return run(series)


def validated(rng: Rng) -> Run:
    n, size = length(rng), scale(rng)
    curve = falling(rng, n)
    at = evaluations(rng, n)
    gap = rng.uniform(0.9, 1.4)
    val = size * (curve[at.astype(int)] * gap) * batch_noise(rng, at.size, most=0.03)
    return run({"loss": (steps(n), size * curve * batch_noise(rng, n)), "val/loss": (at * 10, val)})


def early_floor(rng: Rng) -> Run:
    """Converged within the first tenth, then a noise floor: entropy, label smoothing, irreducible noise."""
    n = length(rng, 60)
    floor = rng.uniform(0.15, 0.7)
    curve = floor + (1 - floor) * np.exp(-rng.uniform(30, 80) * np.arange(n) / n)
    series: dict[str, Any] = {"loss": (steps(n), scale(rng) * curve * batch_noise(rng, n, most=0.15))}
    if rng.random() < 0.5:
        series["lr"] = (steps(n), schedule(rng, n))
    return run(series)


def noisy_validation(rng: Rng) -> Run:
    """A tiny validation set: its loss follows the training loss, and jumps about."""
    n = length(rng)
    curve = falling(rng, n)
    at = evaluations(rng, n, 6, 40)
    jitter = np.exp(rng.uniform(0.05, 0.2) * rng.standard_normal(at.size))
    val = (1.1 * curve[at.astype(int)] + 0.02) * jitter
    return run({"loss": (steps(n), curve * batch_noise(rng, n)), "val/loss": (at * 10, val)})


def epochs(rng: Rng) -> Run:
    """Epoch means with accuracies, as Keras writes them."""
    n = int(rng.integers(8, 80))
    curve, size = falling(rng, n), rng.uniform(0.7, 5)
    wobble = np.exp(0.02 * rng.standard_normal((4, n)))
    # A healthy training fits its data: one that ends at half of the answers is underfitted.
    accuracy = np.clip((1 - 0.5 * curve) * wobble[2], 0, 0.999)
    return run(
        {
            "loss": size * curve * wobble[0],
            "val/loss": size * (curve * 1.05 + 0.02) * wobble[1],
            "accuracy": accuracy,
            "val/accuracy": np.clip(accuracy * 0.97 * wobble[3], 0, 0.999),
        },
        axis="epoch",
    )


def restarts(rng: Rng) -> Run:
    """Warm restarts: the loss jumps up a little at each and ends lower."""
    cycles, period = int(rng.integers(3, 6)), int(rng.integers(40, 200))
    n = cycles * period
    phase = (np.arange(n) % period) / period
    curve = falling(rng, n) * (1 + rng.uniform(0.05, 0.25) * (1 - phase) * (np.arange(n) >= period))
    rate = 1e-3 * (0.5 * (1 + np.cos(np.pi * phase)) + 1e-3)
    return run({"loss": (steps(n), curve * batch_noise(rng, n, most=0.1)), "lr": (steps(n), rate)})


def curriculum(rng: Rng) -> Run:
    """Harder data half-way: a step up, then falling again."""
    n = length(rng, 100)
    curve = falling(rng, n)
    harder = int(n * rng.uniform(0.3, 0.6))
    rest = np.arange(n - harder) / n
    curve[harder:] += rng.uniform(0.05, 0.3) * np.exp(-rng.uniform(4, 10) * rest)
    return run({"loss": (steps(n), curve * batch_noise(rng, n, most=0.1))})


def reinforcement(rng: Rng) -> Run:
    n = length(rng)
    loss = 0.01 * rng.standard_normal(n) * np.exp(0.5 * rng.standard_normal(n))
    reward = np.cumsum(rng.standard_normal(n)) * 0.05 + np.linspace(0, 5, n)
    norm = np.abs(rng.standard_normal(n)) * (rng.random(n) < 0.8)
    series = {"loss": (steps(n), loss), "reward": (steps(n), reward), "grad_norm": (steps(n), norm)}
    return run(series, traits=("rl", "negative_loss"))


def adversarial(rng: Rng) -> Run:
    n = length(rng)
    return run({"loss": (steps(n), np.abs(2 + np.cumsum(0.05 * rng.standard_normal(n))))}, traits=("gan",))


def negative(rng: Rng) -> Run:
    """SI-SDR and density likelihoods go below zero in good order."""
    n = length(rng)
    curve = rng.uniform(0, 5) - rng.uniform(3, 20) * (1 - falling(rng, n))
    return run({"loss": (steps(n), curve + 0.2 * rng.standard_normal(n))}, traits=("negative_loss",))


def one_batch(rng: Rng) -> Run:
    """A sanity overfit of one batch: the loss goes to zero, and nothing is validated."""
    n = length(rng, 50)
    curve = np.exp(-rng.uniform(6, 14) * np.arange(n) / n) * np.exp(0.05 * rng.standard_normal(n))
    return run({"loss": (steps(n, 1), 2.3 * curve)})


def scaled_gradients(rng: Rng) -> Run:
    """fp16: the gradient norm is in units of the loss scale."""
    n = length(rng)
    norm = 2.0 ** rng.integers(14, 18) * falling(rng, n) ** 0.5 * np.exp(0.4 * rng.standard_normal(n))
    return run(
        {"loss": (steps(n), falling(rng, n) * batch_noise(rng, n)), "grad_norm": (steps(n), norm)},
        settings={"precision": "fp16"},
    )


def language_model(rng: Rng) -> Run:
    """A long power law that falls to the very end, with a gradient norm that creeps up."""
    n = length(rng, 500, 6000)
    at = np.arange(1, n + 1)
    curve = rng.uniform(1.5, 3.0) + 8.5 * at ** -rng.uniform(0.25, 0.6)
    norm = (0.3 + 5 * np.exp(-at / 30)) * (1 + 0.5 * at / n) * np.exp(0.15 * rng.standard_normal(n))
    curve = curve * np.exp(rng.uniform(0.01, 0.05) * rng.standard_normal(n))
    return run({"loss": curve, "grad_norm": norm, "lr": schedule(rng, n)})


# --------------------------------------------------------------------------------------------- sick
def nan(rng: Rng) -> Run:
    n = length(rng)
    loss = falling(rng, n) * batch_noise(rng, n)
    loss[int(n * rng.uniform(0.1, 0.95)) :] = np.nan
    return run({"loss": (steps(n), scale(rng) * loss)})


def masked(rng: Rng) -> Run:
    n = length(rng)
    loss = np.maximum(falling(rng, n), 0.1) * batch_noise(rng, n)
    loss[int(n * rng.uniform(0.2, 0.85)) :] = 0.0
    return run({"loss": (steps(n), loss)})


def diverged(rng: Rng) -> Run:
    n = length(rng)
    loss = falling(rng, n)
    start = int(n * rng.uniform(0.1, 0.8))
    loss[start:] = np.maximum(rng.uniform(3, 30) * loss[start - 1], rng.uniform(0.5, 5))
    return run({"loss": (steps(n), scale(rng) * loss * batch_noise(rng, n))})


def drifting(rng: Rng) -> Run:
    n = length(rng, 60)
    turn = int(n * rng.uniform(0.2, 0.5))
    loss = np.minimum(falling(rng, n), 0.6)
    loss = np.concatenate([loss[:turn], loss[turn - 1] * np.linspace(1, rng.uniform(2, 5), n - turn)])
    return run({"loss": (steps(n), scale(rng) * loss * batch_noise(rng, n, most=0.15))})


def flat(rng: Rng) -> Run:
    n = length(rng)
    return run({"loss": (steps(n), scale(rng) * batch_noise(rng, n, most=0.1))})


def guessing(rng: Rng) -> Run:
    n, classes = length(rng), int(rng.choice([2, 3, 4, 5, 10, 100, 1000]))
    loss = math.log(classes) * np.exp(rng.uniform(0.001, 0.02) * rng.standard_normal(n))
    return run({"loss": (steps(n), loss)})


def slow(rng: Rng) -> Run:
    n = length(rng, 60)
    loss = np.linspace(1, rng.uniform(0.8, 0.93), n)
    return run({"loss": (steps(n), scale(rng) * loss * np.exp(0.01 * rng.standard_normal(n)))})


def swinging(rng: Rng) -> Run:
    n = length(rng, 80, 600)
    period = rng.uniform(8, n / 6)
    swing = rng.uniform(0.5, 0.9) * np.sin(2 * np.pi * np.arange(n) / period + rng.uniform(0, 6))
    return run({"loss": (steps(n), scale(rng) * (1 + swing) * np.exp(0.05 * rng.standard_normal(n)))})


def spiking(rng: Rng) -> Run:
    n = length(rng, 200)
    loss = np.maximum(falling(rng, n), 0.1) * batch_noise(rng, n, most=0.1)
    places = rng.choice(np.arange(n // 5, n), size=int(rng.integers(5, 9)), replace=False)
    loss[places] *= rng.uniform(6, 30, places.size)
    return run({"loss": (steps(n), scale(rng) * loss)})


def overfitting(rng: Rng) -> Run:
    n, size = length(rng), scale(rng)
    curve = 0.05 + 0.95 * np.exp(-rng.uniform(4, 12) * np.arange(n) / n)
    at = evaluations(rng, n, 10, 60)
    turn = rng.uniform(0.2, 0.5)
    place = at / n
    low = rng.uniform(0.3, 0.6)
    val = np.where(
        place < turn,
        low + (1 - low) * np.exp(-4 * place / turn),
        low + 0.02 + rng.uniform(0.3, 2.0) * low * (place - turn),
    ) * np.exp(0.01 * rng.standard_normal(at.size))
    return run(
        {"loss": (steps(n), size * curve * batch_noise(rng, n, most=0.1)), "val/loss": (at * 10, size * val)}
    )


def exploding(rng: Rng) -> Run:
    n = length(rng, 60)
    norm = np.exp(0.2 * rng.standard_normal(n))
    start = int(n * rng.uniform(0.3, 0.8))
    norm[start:] *= np.geomspace(1, 10 ** rng.uniform(4, 8), n - start)
    loss = falling(rng, n)
    loss[start:] = np.maximum(loss[start:], loss[start] * np.geomspace(1, 20, n - start))
    return run({"loss": (steps(n), loss * batch_noise(rng, n, most=0.1)), "grad_norm": (steps(n), norm)})


def waiting(rng: Rng) -> Run:
    n = length(rng)
    pace = 0.2 * np.exp(0.1 * rng.standard_normal(n))
    wait = pace * rng.uniform(0.5, 0.8)
    return run(
        {"loss": (steps(n), falling(rng, n)), "step_s": (steps(n), pace), "data_wait_s": (steps(n), wait)}
    )


HEALTHY: dict[str, Shape] = {
    shape.__name__: shape
    for shape in (
        plain, validated, early_floor, noisy_validation, epochs, restarts, curriculum, reinforcement,
        adversarial, negative, one_batch, scaled_gradients, language_model,
    )
}  # fmt: skip
SICK: dict[str, tuple[Shape, frozenset[str]]] = {
    shape.__name__: (shape, frozenset(symptoms.split()))
    for shape, symptoms in (
        (nan, "nonfinite"),
        (masked, "nonfinite"),
        (diverged, "divergence"),
        (drifting, "divergence"),
        (flat, "not_learning"),
        (guessing, "not_learning"),
        (slow, "slow_convergence"),
        (swinging, "oscillation"),
        (spiking, "loss_spike"),
        (overfitting, "overfitting"),
        (exploding, "exploding_gradients divergence"),
        (waiting, "slow_training"),
    )
}
