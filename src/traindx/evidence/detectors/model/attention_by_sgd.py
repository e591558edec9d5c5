"""A model with attention is trained by plain SGD, and the weights hardly move.

Attention, embeddings and norms have gradients of very different size: one rate for all is too small for
most of them. Seen when a model with attention is trained by SGD without momentum, the typical layer never
changes by more than {max_update_ratio} of itself in a step, and the loss still falls to the end.

A sign while the loss falls as it should. Silent with momentum, with other optimizers, and when steps are of
ordinary size. Known mistakes: fine-tuning by small steps on purpose, which ends as low as it can.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Scalar, Skipped, number
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors._updates import ratios
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(
    title="Attention trained by plain SGD",
    needs=("fact:optimizers", "update_ratio/*"),
    family="optimizer_fit",
)


def detect(
    case: Case,
    *,
    max_update_ratio: float = 1e-3,
    loss_left: float = 0.5,
    curve_bend: float = 0.4,
    min_samples: int = 3,
) -> Detected:
    optimizers, models = case.inside.optimizers, case.inside.models
    if len(optimizers) != 1 or len(models) != 1 or models[0].get("attention") is not True:
        return Skipped()
    _, values = ratios(case, looks=min_samples)
    if values.size < min_samples:
        return Skipped(f"{min_samples} samples of what a step changes")
    momentum = case.number("momentum") or number(optimizers[0], "momentum") or 0.0
    if case.word("optimizer") != "sgd" or momentum or float(values.max()) > max_update_ratio:
        return None
    loss = case.loss
    slow = loss is not None and case.harm.slow(bend=curve_bend) and loss.tail > loss_left * loss.head
    return Finding(
        f"A model with attention is trained by SGD without momentum: the typical layer changes by at most "
        f"{text(float(values.max()))} of its size in a step"
        + (", and the loss still falls to the end." if slow else "."),
        symptom="slow_convergence" if slow else None,
        severity="medium" if slow else "low",
        numbers={"update_ratio": float(values.max()), "optimizer": "sgd"},
    )


def _run(optimizer: str, ratio: float, *, attention: bool = True) -> Run:
    import numpy as np

    from traindx.evidence.detectors._layers import model

    facts = model([[32, 8], [32, 32], [4, 32]])
    facts["models"][0]["attention"] = attention
    series = {f"update_ratio/{name}": [ratio] * 5 for name in (0, 2, 4)}
    loss = noisy(np.linspace(3.2, 2.5, 200), 0.01)
    settings: dict[str, Scalar] = {"optimizer": optimizer, "momentum": 0, "lr": 0.003}
    return run({"loss": loss, **series}, settings=settings, facts={**facts, "optimizers": [{"class": "SGD"}]})


def fires() -> Runs:
    yield _run("SGD", 3e-4)


def silent() -> Runs:
    yield _run("AdamW", 3e-4)
    yield _run("SGD", 0.01)
    yield _run("SGD", 3e-4, attention=False)
