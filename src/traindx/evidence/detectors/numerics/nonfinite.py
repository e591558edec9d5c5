"""NaN and Inf in the loss, the gradients and the weights."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Severity, Skipped
from traindx.evidence.detectors._number_text import percent, where
from traindx.testing.sketch import decay, noisy, run


@Detector("Loss NaN or Inf", family="nonfinite", explains=("plateau", "slow_decline", "loss_flat"))
def loss_nonfinite(loss: Curve, *, few_share: float = 0.02) -> Detected:
    """The training loss became NaN or Inf.

    Gives the step, how many values are affected, whether the loss came back, and the last finite value. A
    loss that stays NaN is lost (critical); a single value that passed is serious but survivable (medium).

    Silent when all values are finite. Hugging Face's trainer hides NaN as 0.0: see loss_masked_nan.
    """
    if not loss.broken:
        return None
    steps, values = loss.series.steps, loss.series.values
    broken = np.flatnonzero(~loss.finite)
    first = int(broken[0])
    onset = float(steps[first])
    kind = "NaN" if np.isnan(values[first]) else "Inf"
    stays = not loss.finite[-1]
    again = stays and bool(loss.finite[first:].any())
    share = broken.size / values.size
    severity: Severity = "critical" if stays else "high" if share > few_share else "medium"
    before = loss.y[loss.x <= onset]
    led = f" after {before[-1]:.4g}" if before.size else " in its first value"
    share_text = f"{broken.size} of {values.size:,} values"
    end = "stays so to the end" if stays else f"{share_text}, finite again later"
    if again:
        end = f"{share_text} are not finite, the last one too"
    text = f"The loss is {kind} at {where(loss, onset)}{led}; {end}."
    numbers = {"nonfinite_share": float(share)}
    if before.size:
        numbers["last_finite"] = float(before[-1])
    return Finding(text, "nonfinite", severity, onset, numbers=numbers, marks=(onset,))


@Detector("Gradient norm NaN or Inf", family="nonfinite_gradients")
def grad_nonfinite(case: Case, grad_norm: Curve, *, bad_share: float = 0.2, bad_streak: int = 3) -> Detected:
    """The gradient norm is NaN or Inf.

    Tells where it first happened, how often, and whether it stayed. With a loss scaler (fp16) a lone Inf is
    ordinary: the step is skipped and the scale halved. So single ones are a sign only; it is trouble when
    they last to the end or make up a large part of the run.

    Silent when the norm is never finite while the loss goes on falling: then it is not measured.
    Known mistakes: a logger that writes NaN for a missing value.
    """
    if not grad_norm.broken:
        return None
    bad = ~grad_norm.finite
    steps = grad_norm.series.steps[bad]
    to_the_end = int(np.argmax(grad_norm.finite[::-1])) if grad_norm.finite.any() else bad.size
    if not grad_norm.finite.any() and (bad.size < bad_streak or case.harm.learned()):
        return Skipped("a gradient norm that is measured (every logged one is NaN or Inf)")
    lasting = to_the_end >= bad_streak
    widespread = grad_norm.broken >= bad_streak and bad.mean() >= bad_share
    severity: Severity = "critical" if lasting and not case.harm.learned() else "high"
    trouble = lasting or widespread
    kind = "NaN" if np.isnan(grad_norm.series.values[bad]).all() else "Inf"
    first = float(steps[0])
    times = "once" if grad_norm.broken == 1 else f"{grad_norm.broken} times of {bad.size}"
    end = f"and stays so for the last {to_the_end} values" if lasting else f"({percent(float(bad.mean()))})"
    return Finding(
        text=f"The gradient norm is {kind} {times}, first at {where(grad_norm, first)} {end}.",
        symptom="nonfinite" if trouble else None,
        severity=severity if trouble else "low",
        step=first,
        end=float(steps[-1]),
        strength=1.0 if trouble else 0.5,
        numbers={"onset": first, "grad_nonfinite": grad_norm.broken},
        marks=tuple(float(step) for step in steps[:20]),
    )


@Detector("Weights NaN or Inf", family="nonfinite")
def weights_nonfinite(weight_norm: Curve, *, bad_streak: int = 2) -> Detected:
    """The norm of the weights is NaN or Inf.

    Weights that hold a NaN never recover, so the run is lost from that step on. A value that is finite again
    later was a slip of the log: a sign only.
    """
    if not weight_norm.broken:
        return None
    values, steps = weight_norm.series.values, weight_norm.series.steps
    to_the_end = int(np.argmax(weight_norm.finite[::-1])) if weight_norm.finite.any() else values.size
    lost = to_the_end >= bad_streak or (
        to_the_end and weight_norm.broken == to_the_end and values.size > bad_streak
    )
    first = float(steps[values.size - to_the_end] if lost else steps[np.argmin(weight_norm.finite)])
    kind = "NaN" if np.isnan(values[~weight_norm.finite]).any() else "Inf"
    how_long = "and never finite again" if lost else f"at {weight_norm.broken} of {values.size} points"
    return Finding(
        text=f"The weight norm is {kind} from {where(weight_norm, first)} on, {how_long}."
        if lost
        else f"The weight norm is {kind} {how_long}, first at {where(weight_norm, first)}, and finite later.",
        symptom="nonfinite" if lost else None,
        severity="critical",
        step=first,
        strength=1.0 if lost else 0.3,
        numbers={"onset": first},
        marks=(first,),
    )


def cases() -> Cases:
    yield from loss_nonfinite.fires(run({"loss": [*decay(50, 2.0, 0.5), *[float("nan")] * 20]}))
    yield from loss_nonfinite.fires(run({"loss": [float("inf")] * 3}))
    yield from loss_nonfinite.silent(run({"loss": decay(50, 2.0, 0.5)}))
    yield from loss_nonfinite.silent(run({"val/loss": [1.0, float("nan")]}))
    lone = noisy([1.0] * 60, 0.2)
    lone[30] = np.inf
    yield from grad_nonfinite.fires(run({"grad_norm": lone, "loss": decay(60, 3.0, 1.0)}))
    lost = noisy([1.0] * 60, 0.2)
    lost[40:] = np.nan
    yield from grad_nonfinite.fires(
        run({"grad_norm": lost, "loss": np.where(np.arange(60) < 40, 1.0, np.nan)})
    )
    yield from grad_nonfinite.silent(run({"grad_norm": noisy([1.0] * 60, 0.2)}))
    yield from grad_nonfinite.silent(
        run({"grad_norm": [np.nan] * 60, "loss": noisy(decay(60, 3.0, 1.0), 0.02)})
    )
    yield from grad_nonfinite.silent(run({"grad_norm": [np.inf]}))
    yield from weights_nonfinite.fires(run({"weight_norm": [10.0, 10.1, 10.2, np.nan, np.nan, np.nan]}))
    yield from weights_nonfinite.fires(run({"weight_norm": [10.0, np.inf, 10.2, 10.3, 10.4]}))
    yield from weights_nonfinite.silent(run({"weight_norm": [10.0, 10.1, 10.2]}))
    yield from weights_nonfinite.silent(run({"weight_norm": [1e30, 1e30]}))
