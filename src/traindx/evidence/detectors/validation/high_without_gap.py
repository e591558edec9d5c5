"""Training and validation loss both end high, close together, and hardly fall any more.

High is told in one of two ways. *Classes*: with K classes known (from the settings, or from a loss and an
accuracy that both begin at chance; of several K the one nearest to the accuracy) less than a quarter of the
way from ln K to zero was made. *Regression*: more than half of the first loss is left (of the loss of a
constant answer, where a recording has it: a warm start begins below), in a run whose
metrics or settings say that it is a regression, or whose loss is larger than any cross-entropy begins with
(then only low: the floor is not known).

Low while training or validation still falls, and where a recording shows that simple models tell less of the
targets than this one: the rest may well be noise. Low as well for a fine-tuning on classes, and for a
regression of which a recording could not ask simple models: samples of several inputs, ids.

Silent when the validation loss is a third above the training loss or a quarter below it, while the
training loss still falls by more than a few percent, at chance level (see loss_at_chance), with good
scores, for language models (where the first loss of a trained model says nothing), for losses summed from
several terms, and for RL, GAN and ELBO losses.
Known mistakes: noise in the targets sets a floor that no model gets below.
"""

import math
import re

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped, stats
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.validation import last_level
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Both losses high, no gap",
    family="fit",
    harms="fit",
    guards=("surrogate", "elbo", "negative_loss", "preference", "si_sdr", "good"),
)

_ROOT = re.compile(r"(?<![a-z])(?:mae|l1|rmse|absolute)(?![a-z])")
_REGRESSION = re.compile(r"mse|mae|l1|l2|huber|squared|regress")
# No cross-entropy begins above the logarithm of the largest vocabularies.
_ABOVE_ALL_CHANCE = 13.0


def detect(
    case: Case,
    loss: Curve,
    val_loss: Curve,
    *,
    progress_made: float = 0.25,
    loss_left: float = 0.5,
    max_gap: float = 0.35,
    max_slope: float = 0.04,
    min_loss_points: int = 8,
) -> Detected:
    if not len(val_loss):
        return Skipped("a training and a validation loss")
    if len(loss) < min_loss_points:
        return Skipped(f"at least {min_loss_points} training losses")
    now, held_out = loss.tail, last_level(val_loss.y)
    if not (loss.y > 0).all() or not now * 0.75 <= held_out <= now * (1.0 + max_gap):
        return None
    slope = loss.course.late_fall
    if slope > max_slope or case.resumed:
        return None
    high_loss = _far_from_fit(case, loss, progress_made) or _much_is_left(case, loss, loss_left)
    if high_loss is None:
        return None
    severity, why, share = high_loss
    course = _course(loss, slope)
    if course.startswith("still") or _improves(val_loss):
        severity = "low"
    return Finding(
        f"The training loss ends at {text(now)} and the validation loss at {text(held_out)}; training "
        f"{course}: {why}.",
        "underfitting",
        severity,
        step=float(loss.x[len(loss) * 2 // 3]),
        end=float(loss.x[-1]),
        strength=strength(1.0 / max(1.0 - share, 0.02), 1.0, 8.0),
        numbers={"train_last": now, "val_last": held_out, "unexplained": share},
    )


def _course(train: Curve, slope: float) -> str:
    """What the training loss does over its last third, in words that hold."""
    last = train.y[-max(4, len(train) // 3) :]
    error = 1.25 * stats.noise(last) * float(np.sqrt(4.0 / last.size)) / float(np.median(last))
    if slope > max(0.005, 2.0 * error):
        return f"still falls, but slowly ({percent(slope)} within the last third of the run)"
    return "no longer falls"


def _improves(val: Curve, *, z: float = -2.5, fall: float = 0.02) -> bool:
    """Whether validation still came down over the second half of its evaluations, or at all of few."""
    half = len(val) // 2
    if half < 4:
        last = val.y[-4:]
        return last.size == 4 and bool((np.diff(last) < 0).all()) and float(last[0] / last[-1]) > 1.0 + fall
    course = stats.trend(val.x[-half:], val.y[-half:])
    return course.z < z and -course.change > fall * float(np.median(val.y[-half:]))


def _far_from_fit(case: Case, train: Curve, max_progress: float) -> tuple[Severity, str, float] | None:
    """Little of the way from ln K to zero, K being known."""
    classes = case.task.classes
    if classes is None or classes > 1000:
        return None
    chance = math.log(classes)
    way = 1.0 - train.tail / chance
    if not 0.03 < way < max_progress:
        return None
    phrase = f"{percent(way)} of the way from chance (ln {classes} = {text(chance)}) to zero"
    return "medium", phrase, 1.0 - way


def _much_is_left(case: Case, train: Curve, min_share: float) -> tuple[Severity, str, float] | None:
    """More than half of the first loss is left in a regression."""
    constant = case.task.constant_loss or 0.0
    share = train.tail / max(train.head, constant)
    # Of an absolute error or a root, half is left where three quarters of the variance are explained.
    share = share**2 if _ROOT.search(f"{train.series.source} {case.word('loss_function')}".lower()) else share
    if not min_share < share < 0.97:
        return None
    if any(name.startswith(("loss/", "map", "val/map", "perplexity")) for name in case.names):
        return None
    names = " ".join(case.names) + " " + case.word("loss_function")
    regression = (
        case.task.one_output
        or _REGRESSION.search(names) is not None
        or case.has("mse|mae|rmse|r2|val/mse|val/mae|val/rmse|val/r2")
    )
    if not regression and train.head <= _ABOVE_ALL_CHANCE:
        return None
    start = f"the {text(constant)} of a constant answer" if constant > train.head else "the first loss"
    phrase = f"{percent(share)} of {start}{'' if constant > train.head else f' ({text(train.head)})'} is left"
    # A recording that could not ask simple models has nothing to tell a floor of noise by.
    unasked = bool(case.inside.models) and case.level.against_simple is None
    return ("medium" if regression and not unasked else "low"), phrase, share


def fires() -> Runs:
    loss = noisy(decay(60, 2.3, 1.9, rate=12), 0.005)
    yield run(
        {"loss": loss, "val/loss": noisy(loss * 1.02, 0.005, seed=1)}, axis="epoch", settings={"classes": 10}
    )
    high = noisy(decay(120, 28.0, 16.0, rate=12), 0.03)
    yield run({"loss": high, "val/loss": (np.array([40.0, 80.0, 119.0]), [24.0, 18.0, 17.0])})
    yield run({"loss": high / 20, "val/loss": high / 19, "val/mae": high / 30}, axis="epoch")


def silent() -> Runs:
    loss = decay(60, 2.3, 0.4)
    yield run({"loss": loss, "val/loss": loss * 1.05}, axis="epoch", settings={"classes": 10})
    tuned = noisy(decay(200, 1.6, 1.1, rate=9), 0.02)
    yield run({"loss": tuned, "val/loss": (np.arange(5) * 40, decay(5, 1.5, 1.12))})
    falling = np.linspace(2.3, 1.75, 60)
    yield run({"loss": falling, "val/loss": falling}, axis="epoch", settings={"classes": 10})
    parted = np.full(60, 2.0)
    yield run({"loss": parted, "val/loss": parted * 2}, axis="epoch", settings={"classes": 10})
