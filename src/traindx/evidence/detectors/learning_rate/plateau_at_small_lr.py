"""The loss stands still at a learning rate far below the usual, though there is a gradient to follow.

Seen when the loss has stopped with {loss_left} of its start or more left and the rate then in use is under
{adam} (Adam and its kin, or an optimizer that is not named) or {sgd} (SGD), a tenth of that where anything
hints at fine-tuning; ten times these limits where a logged gradient norm since then is in its usual range
(0.1 to 10), and the rate was not lowered by a schedule.

Silent where the rate has decayed from a larger one (see lr_decayed_early), where a score says the model does
well, and where the gradient is gone (see plateau_without_gradient).
"""

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.evidence.detectors._settings import optimizer_family, perhaps_tuned
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Stands at a small learning rate", family="lr_value", guards=("surrogate",))


def detect(
    case: Case,
    loss: Curve,
    lr_value: float,
    *,
    adam: float = 3e-6,
    sgd: float = 1e-4,
    loss_left: float = 0.3,
    min_points: int = 12,
) -> Detected:
    stop = case.harm.standstill
    if stop is None:
        return Skipped()
    norm = case.harm.norm_at_standstill
    rate = case.lr.at(stop.since) if case.lr is not None and len(case.lr) else lr_value
    limit = sgd if optimizer_family(case) == "sgd" else adam
    limit *= 0.1 if perhaps_tuned(case) else 1.0
    gradient = norm is not None and 0.1 <= norm <= 10.0
    limit *= 10.0 if gradient else 1.0
    lowered = rate < 0.5 * lr_value
    if (
        not 0 < rate < limit
        or case.harm.gradient_gone
        or lowered
        or case.level.good
        or stop.level < loss_left * loss.head
    ):
        return None
    pull = f", while the gradient norm is {text(norm)} (usual are 0.1 to 10)" if gradient and norm else ""
    return Finding(
        f"The loss has stood at {text(stop.level)} since {where(loss, stop.since)} under a learning rate of "
        f"{text(rate)}{pull}: there is further to go, and the steps are too short.",
        step=stop.since,
        numbers={"lr": rate, "last_value": stop.level},
    )


def fires() -> Runs:
    flat = noisy([*decay(30, 2.3, 1.4), *[1.4] * 120], 0.01)
    yield run({"loss": flat, "lr": [1e-6] * 150})
    yield run(
        {"loss": flat, "grad_norm": noisy([1.2] * 150, 0.2)}, settings={"lr": 1e-5, "optimizer": "adam"}
    )


def silent() -> Runs:
    flat = noisy([*decay(30, 2.3, 1.4), *[1.4] * 120], 0.01)
    yield run({"loss": flat, "lr": [1e-3] * 150})
    yield run({"loss": flat, "lr": [1e-3] * 20 + [1e-6] * 130})
    yield run({"loss": flat, "lr": [1e-6] * 150, "val/accuracy": [0.95] * 150})
