"""The training loss went almost to zero and nothing was measured on validation data.

Seen when the training loss ended below {loss_left:%} of its start, or the training accuracy at {min_accuracy}
or above, in a log without any validation or test series. Whether the model learned or memorised cannot be
told from such a log. Low: a deliberate overfit of one batch, a physics-informed network or plain
regression without noise look the same and are in order. Medium where a trainer for fine-tuning (Hugging Face,
LLaMA-Factory) went over the data {many_epochs} times or more: text is never predicted that well unless it is
remembered. Medium, too, where a score printed at the end, and seldom before, is {poor_score} or less:
what fits so well answers badly where it was tested.

Silent when any validation value is logged, when the loss may be negative or ended in NaN, for RL and GAN
losses, and where a recording shows that no sample came twice: what is met once cannot be memorised.
"""

from dataclasses import replace

from traindx.core.facts import sizes
from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped, number
from traindx.evidence.detectors._number_text import percent, strength, text, times
from traindx.evidence.validation import validation_curves
from traindx.testing.sketch import decay, noisy, run

# Scores that tell how many answers are right; printed at the end: so few values, so late in the run.
_ANSWERS = ("accuracy", "exact_match", "f1")
_FEW, _LATE = 3, 0.95

DETECTOR = Detector(
    title="Memorised, not validated",
    needs=("loss|accuracy",),
    family="memorising",
    guards=("surrogate", "preference"),
)


def detect(
    case: Case,
    *,
    loss_left: float = 0.03,
    min_accuracy: float = 0.995,
    min_points: int = 8,
    many_epochs: float = 5.0,
    tuned_loss: float = 0.1,
    poor_score: float = 0.5,
) -> Detected:
    sides = [case.curve(name) for name in case.names if name.startswith(("val/", "test/"))]
    held_out = [curve for curve in (*validation_curves(case), *sides) if curve is not None]
    if not all(_hardly_before_the_end(case, curve) for curve in held_out):
        return None
    if _always_new(case):
        return None
    loss = case.loss
    if loss is not None and loss.broken and not loss.finite[-1]:
        return None
    if loss is not None and len(loss) >= min_points and (loss.y >= 0).all() and loss.head > 0:
        remaining = loss.tail / loss.head
        if remaining < loss_left:
            fell = f"fell {times(1.0 / remaining)}" if remaining > 0 else "fell to zero"
            tuned = case.task.tuned_by_trainer and _epochs(case) >= many_epochs and loss.tail < tuned_loss
            finding = _finding(
                f"The training loss {fell}, from {text(loss.head)} to {text(loss.tail)}, and no validation "
                "was logged: whether it learned or memorised is unknown.",
                loss.name,
                strength(loss_left / max(remaining, 1e-9), 1.0, 50.0),
                remaining,
            )
            score = _tested_at_the_end(case)
            if score is not None and score.tail <= poor_score:
                words = (
                    f"The training loss {fell}, from {text(loss.head)} to {text(loss.tail)}, and "
                    f"{score.name} is {text(score.tail)} at the end: what was learned does not carry over."
                )
                return replace(finding, text=words, severity="medium", series=score.name)
            return replace(finding, severity="medium") if tuned else finding
    curve = case.curve("accuracy")
    part = shares(curve)
    if curve is None or part is None or len(curve) < min_points:
        return (
            None
            if loss is not None and len(loss) >= min_points
            else Skipped(f"at least {min_points} training losses")
        )
    last = curve.tail / (100.0 if curve.y.max() > 1.5 else 1.0)
    if last < min_accuracy or float(part[0]) > min_accuracy:
        return None
    return _finding(
        f"The training accuracy reached {percent(last)} and no validation was logged: learned or memorised "
        "cannot be told.",
        curve.name,
        0.5,
        1.0 - last,
    )


def _hardly_before_the_end(case: Case, curve: Curve) -> bool:
    return 0 < len(curve) <= _FEW and float(curve.x[-1]) >= _LATE * case.span[1]


def _tested_at_the_end(case: Case) -> Curve | None:
    """A share of right answers that was printed at the end of a run, and hardly before."""
    for name in _ANSWERS:
        for curve in (case.val(name), case.curve(name)):
            if curve is not None and _hardly_before_the_end(case, curve) and shares(curve) is not None:
                return curve
    return None


def _epochs(case: Case) -> float:
    """How often the data was gone over, where the log counts it."""
    epoch = case.curve("epoch")
    if epoch is not None and len(epoch):
        return float(epoch.y.max())
    return case.span[1] / case.epoch_length if case.epoch_length and case.run.axis == "step" else 0.0


def _always_new(case: Case) -> bool:
    """Whether samples are so many that each is met about once.

    That none of those looked at came again says that there are more than a sixth of their square.
    """
    samples = case.inside.fact("samples")
    total, again = number(samples, "taken"), number(samples, "came_again")
    shapes = [sizes(loss.get("output_shape")) for loss in case.inside.losses]
    if total is None or again != 0 or not shapes or not shapes[0]:
        return False
    return case.span[1] * shapes[0][0] <= total**2 / 6


def _finding(words: str, series: str, clear: float, remaining: float) -> Finding:
    return Finding(words, "overfitting", "low", series=series, strength=clear, numbers={"left": remaining})


def fires() -> Runs:
    measured = {"losses": [{"output_shape": "64x1"}], "samples": {"taken": 640, "came_again": 300}}
    yield run({"loss": decay(400, 3.6, 0.0005, rate=12)}, facts=measured)

    yield run({"loss": noisy(decay(2000, 3.6, 0.0005, rate=12), 0.1)})
    yield run({"loss": decay(2000, 3.6, 0.0005, rate=12), "f1": ([1998.0, 1999.0], [0.2, 0.26])})
    yield run({"loss": decay(40, 2.3, 0.2), "accuracy": 100 - decay(40, 70.0, 0.0, rate=9)})


def silent() -> Runs:
    falls = decay(2000, 3.6, 0.0005, rate=12)
    yield run({"loss": falls, "f1": ([1990.0, 1999.0], [0.9, 0.95]), "val/loss": decay(20, 3.6, 0.2)})
    yield run({"loss": noisy(decay(2000, 3.6, 0.5), 0.1)})
    yield run({"loss": decay(2000, 3.6, 0.0005, rate=12), "val/loss": [0.3, 0.4]})
    yield run({"loss": decay(200, 3.6, 0.0005, rate=12)}, traits=("rl",))
    new = {"losses": [{"output_shape": "64x1"}], "samples": {"taken": 640, "came_again": 0}}
    yield run({"loss": decay(400, 3.6, 0.0005, rate=12)}, facts=new)
