"""The loss is exactly zero from the first value on."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import decay, run


@Detector(
    "Loss is zero from the start",
    family="loss_zero",
    guards=("surrogate", "preference", "good"),
    explains=("loss_flat", "grad_vanishes", "no_gradient_at_all", "loss_spikes_recurring"),
)
def loss_zero(case: Case, loss: Curve, *, zero_share: float = 0.9, min_points: int = 8) -> Detected:
    """The loss is exactly 0 from the first value on: the model has nothing to learn from.

    No model begins without an error. Every label is masked or ignored, no sample reaches the loss, or the
    loss compares a thing with itself (an anchor that is its own positive, a term multiplied by 0). Seen when
    {zero_share:%} or more of the values are exactly 0, the first ones among them.

    Low where some values of a log without gradient norms are not 0: it may have rounded small losses. Silent
    when a gradient norm is NaN or Inf (a trainer that logs NaN as 0: see loss_masked_nan), when a score or
    the validation loss improves, and for reinforcement and preference learning, where zero is an ordinary
    value.
    """
    values, norm = loss.series.values, case.grad_norm
    if values.size < min_points:
        return Skipped(f"at least {min_points} training losses")
    share = float((values == 0.0).mean())
    if share < zero_share or values[:3].any() or (norm is not None and norm.broken) or case.level.improves:
        return None
    certain = share == 1.0 or case.inside.recorded or (norm is not None and not norm.y.any())
    return Finding(
        f"The loss is exactly 0 in {percent(share)} of its {values.size:,} values, from the first on: the "
        "model has nothing to learn from.",
        "not_learning",
        "high" if certain else "low",
        step=float(loss.series.steps[0]),
        end=float(loss.series.steps[-1]),
        series=loss.name,
        numbers={"zero_share": share},
    )


def cases() -> Cases:
    yield from loss_zero.fires(
        run({"loss": [0.0] * 20, "grad_norm": [0.0] * 20}),
        run({"loss": [*[0.0] * 30, 0.01, 0.0, 0.0]}, facts={"losses": [{"function": "triplet_margin_loss"}]}),
    )
    yield from loss_zero.silent(
        run({"loss": [0.0] * 20, "grad_norm": [np.nan] * 20}),
        run({"loss": [*decay(30, 2.0, 0.8), *[0.0] * 20]}),
        run({"loss": [0.0] * 20, "val/loss": decay(20, 0.004, 0.001)}),
        run({"loss": [0.0] * 20, "reward": np.linspace(0.0, 1.0, 20)}, traits=("rl",)),
    )
