"""The training loss never left its starting level.

Compares the first and the last tenth of the loss: seen when the fall is under {min_fall} of the start, or
cannot be told from the curve's own noise, and the loss was never clearly lower in between. Noise must be
small enough that a real fall would have shown.

Low when the noise would hide a fall of {clear_noise} or less of the start, and where validation falls
steadily to what simple models predict of the targets in a recording: little can be predicted at all. Low,
too, where the whole model was loaded before its first step: it may have learned before.

Silent when the log begins in the middle of a training (a resumed run may have converged), when a metric says
that the model does well, for reinforcement learning and GANs, and with fewer than {min_points} points.
"""

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped
from traindx.evidence.inside import facts, number
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Loss flat from the start",
    family="flat",
    explains=("plateau", "slow_decline"),
    guards=("surrogate",),
)


def detect(
    case: Case,
    loss: Curve,
    *,
    min_fall: float = 0.02,
    max_noise: float = 0.3,
    clear_noise: float = 0.08,
    min_points: int = 8,
    min_steps: int = 20,
) -> Detected:
    if loss.axis == "step" and loss.x[-1] - loss.x[0] < min_steps:
        return Skipped(f"at least {min_steps} steps: fewer need not show in a loss")
    if loss.course.starts_late:
        return Skipped("the start of the training (the log begins in the middle)")
    went = loss.course.ends
    if went.resolution > max_noise and abs(went.share) < went.resolution:
        return Skipped("more or less noisy values of the loss: noise would hide a fall")
    falls = went.share > max(min_fall, min(went.resolution, 2.5 * min_fall))
    falls = falls and (went.z > 3 or went.share > 2.5 * min_fall)
    size = abs(went.head) or 1.0
    dipped = went.deepest > max(2 * min_fall, went.resolution + 2 * loss.noise / size)
    dipped = dipped or went.head - float(loss.y.min()) > max(0.3 * size, 12 * loss.noise)
    started_above = max(loss.head, float(loss.y[0])) - went.tail > max(
        4 * min_fall * abs(loss.head), 6 * loss.noise
    )
    trend = loss.trend
    slides = trend.p < 1e-4 and -trend.change > min_fall * size
    rises = loss.tail - loss.head > max(1.5 * min_fall, min(2 * went.resolution, 0.15)) * size
    if falls or dipped or started_above or slides or rises or case.level.good:
        return None
    severity: Severity = "high" if len(loss) >= 2 * min_points else "medium"
    if went.resolution > clear_noise or case.level.has_all_there_is() or _goes_on(case):
        severity = "low"
    text = (
        f"The loss stays at its start: {went.head:.4g} in the first tenth, {went.tail:.4g} in the last "
        f"({-went.share:+.1%}; its noise is about {2 * loss.noise / size:.1%}) over {len(loss):,} values."
    )
    numbers = {"first_value": went.head, "last_value": went.tail}
    return Finding(
        text,
        "not_learning",
        severity,
        float(loss.x[0]),
        float(loss.x[-1]),
        loss.name,
        1.0 if abs(went.share) < min_fall else 0.7,
        numbers,
    )


def _goes_on(case: Case) -> bool:
    """Whether all weights of the model were loaded before its first step."""
    classes = {str(model.get("class")) for model in case.inside.models}
    return any(
        str(told.get("class")) in classes and not number(told, "missing") and not number(told, "step")
        for told in facts(case.run.facts.get("restored"))
    )


def fires() -> Runs:
    yield run({"loss": noisy([2.3] * 100, 0.02)})
    yield run({"loss": noisy([1e25] * 40, 0.001)})


def silent() -> Runs:
    yield run({"loss": noisy(decay(100, 2.3, 1.9), 0.02)})
    yield run({"loss": noisy([0.0] * 100, 0.1, relative=False), "reward": [0.0] * 100}, traits=("rl",))
    yield run({"loss": noisy([0.05] * 60, 0.1), "val/accuracy": [0.99] * 60})
    yield run({"loss": ([900 + n for n in range(60)], noisy([0.5] * 60, 0.05))})
